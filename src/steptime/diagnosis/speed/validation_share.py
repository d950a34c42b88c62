"""Validation takes a large part of an epoch."""

from steptime.diagnosis.condition import All, Check, less
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

_EVERY = 5

RULE = SpeedRule(
    kind="validation-share",
    title="Validation takes {validation_s} after each {train_epoch_s} of training.",
    cause="Every epoch ends with a pass over all validation data, though the loss changes little between epochs.",
    when=All(
        Check("validation_s", "train_epoch_s", test=lambda held, trained: held > 0.2 * (held + trained)),
        less("validation_freq", _EVERY),
    ),
    saving=Saving(
        names=("validation_s", "validation_freq", "steps_per_epoch"),
        calculate=lambda held, every, steps: held / steps * (1 / every - 1 / _EVERY),
        how=f"measured: {{validation_s}} for each validation, if there is one every {_EVERY} epochs",
    ),
    ways=(
        Way(
            patch={"validation_freq": str(_EVERY)},
            lines=("# or fewer validation samples, or --set validation_batch_size=1024",),
        ),
    ),
    clear="Validation takes less than a fifth of an epoch.",
    fires=(
        {
            "validation_s": 2.0,
            "train_epoch_s": 2.0,
            "validation_freq": 1,
            "steps_per_epoch": 100,
            "step_s": 0.02,
        },
    ),
    silent=(
        {
            "validation_s": 0.2,
            "train_epoch_s": 2.0,
            "validation_freq": 1,
            "steps_per_epoch": 100,
            "step_s": 0.02,
        },
        {
            "validation_s": 2.0,
            "train_epoch_s": 2.0,
            "validation_freq": 10,
            "steps_per_epoch": 100,
            "step_s": 0.02,
        },
    ),
)
