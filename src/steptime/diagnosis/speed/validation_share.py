"""Validation takes a large part of an epoch."""

from steptime.diagnosis.condition import All, Check
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="validation-share",
    title="Validation takes {validation_s} after each {train_epoch_s} of training.",
    cause="Every epoch ends with a pass over all validation data, though the loss changes little between epochs.",
    when=All(
        Check("validation_s", "train_epoch_s", test=lambda held, trained: held > 0.2 * (held + trained)),
        Check("validation_freq", "validation_freq_next", test=lambda every, seldom: every < seldom),
    ),
    saving=Saving(
        names=("validation_s", "validation_freq", "validation_freq_next", "steps_per_epoch"),
        calculate=lambda held, every, seldom, steps: held / steps * (1 / every - 1 / seldom),
        how="measured: {validation_s} for each validation, if there is one every {validation_freq_next} epochs",
    ),
    ways=(
        Way(
            patch={"validation_freq": "{validation_freq_next}"},
            lines=("# or fewer validation samples, or --set validation_batch_size=1024",),
        ),
    ),
    clear="Validation takes less than a fifth of an epoch.",
    fires=(
        {
            "validation_s": 2.0,
            "train_epoch_s": 2.0,
            "validation_freq": 1,
            "validation_freq_next": 5,
            "steps_per_epoch": 100,
            "step_s": 0.02,
        },
    ),
    silent=(
        {
            "validation_s": 2.0,
            "train_epoch_s": 2.0,
            "validation_freq": 1,
            "validation_freq_next": 1,  # a run of one epoch
            "steps_per_epoch": 100,
            "step_s": 0.02,
        },
        {
            "validation_s": 0.2,
            "train_epoch_s": 2.0,
            "validation_freq": 1,
            "validation_freq_next": 5,
            "steps_per_epoch": 100,
            "step_s": 0.02,
        },
        {
            "validation_s": 2.0,
            "train_epoch_s": 2.0,
            "validation_freq": 10,
            "validation_freq_next": 5,
            "steps_per_epoch": 100,
            "step_s": 0.02,
        },
    ),
)
