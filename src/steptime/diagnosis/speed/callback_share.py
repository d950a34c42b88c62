"""A callback takes a large part of the time."""

from steptime.diagnosis.condition import Check
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="callback-share",
    title="The callback {slowest_callback} takes {slowest_callback_s} of each step.",
    cause=(
        "Callbacks run in Python between the steps, while the device waits. One that acts at every batch is called "
        "a thousand times where an epoch's end would do."
    ),
    when=Check(
        "slowest_callback", "slowest_callback_s", "step_s", test=lambda _, part, whole: part > 0.03 * whole
    ),
    saving=Saving(
        names=("slowest_callback_s",),
        calculate=lambda part: part,
        how="measured: time inside {slowest_callback}, over the steps of the run",
    ),
    ways=(
        Way(
            lines=(
                "# {slowest_callback}: do the work of on_epoch_end at every 10th epoch, or in a thread of its own",
            ),
            where=Check(
                "slowest_callback_s",
                "slowest_callback_epoch_s",
                test=lambda part, between: between > 0.5 * part,
            ),
        ),
        Way(
            lines=(
                (
                    "# {slowest_callback}: move its work from on_train_batch_end to on_epoch_end, or do it every 100th"
                    " batch"
                ),
            ),
        ),
    ),
    clear="Callbacks take little time.",
    fires=({"slowest_callback": "SlowLogger", "slowest_callback_s": 0.005, "step_s": 0.008},),
    silent=(
        {
            "slowest_callback": "SlowLogger",
            "slowest_callback_s": 0.0005,
            "slowest_callback_epoch_s": 0.0005,
            "callbacks_epoch_s": 0.02,
            "step_s": 0.008,
        },
        {
            "slowest_callback": "History",
            "slowest_callback_s": 0.00001,
            "step_s": 0.008,
        },
    ),
)
