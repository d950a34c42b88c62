"""Saving the model takes a large part of the time."""

from steptime.diagnosis.condition import Check
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="checkpoint-share",
    title="{checkpoint} saves so often that it takes {checkpoint_s} of each step.",
    cause="Saving copies every weight from the device and writes it to disk, while the training waits.",
    when=Check("checkpoint", "checkpoint_s", "step_s", test=lambda _, part, whole: part > 0.03 * whole),
    saving=Saving(
        names=("checkpoint_s",),
        calculate=lambda part: part,
        how="measured: time inside {checkpoint}, over the steps of the run",
    ),
    ways=(
        Way(
            lines=(
                "keras.callbacks.ModelCheckpoint(path, save_best_only=True, save_weights_only=True)",
                "# or save at every 5th epoch only: save_freq=5 * steps of an epoch",
            ),
            where=Check(
                "checkpoint_s", "checkpoint_epoch_s", test=lambda part, between: between > 0.5 * part
            ),
        ),
        Way(lines=("keras.callbacks.ModelCheckpoint(path, save_freq='epoch', save_weights_only=True)",)),
    ),
    clear="Saving the model takes little time.",
    fires=(
        {
            "checkpoint": "ModelCheckpoint",
            "checkpoint_s": 0.004,
            "slowest_callback": "SlowLogger",
            "slowest_callback_s": 0.001,
            "step_s": 0.008,
        },
        {
            "checkpoint": "ModelCheckpoint",
            "checkpoint_s": 0.004,
            "checkpoint_epoch_s": 0.004,
            "callbacks_epoch_s": 0.004,
            "step_s": 0.008,
        },
    ),
    silent=({"checkpoint": "ModelCheckpoint", "checkpoint_s": 0.0001, "step_s": 0.008},),
)
