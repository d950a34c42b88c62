"""Steps run eagerly."""

from steptime.diagnosis.condition import is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="run-eagerly",
    title="Steps run eagerly, op by op from Python.",
    cause=(
        "Eager execution is made for looking into a step. Every op goes through Python; nothing is fused, and "
        "nothing runs while Python decides."
    ),
    when=is_("eager", True),
    saving=Saving(
        names=("host_s",),
        calculate=lambda host_s: host_s,
        how="measured: the part of a step in which the device waits for Python ({host_s})",
    ),
    ways=(
        Way(
            lines=(
                "model.compile(...)  # without run_eagerly=True",
                "# and without tf.config.run_functions_eagerly(True), a leftover of debugging",
            )
        ),
    ),
    clear="Steps run as graphs.",
    explains=(
        "loop-keras",
        "xla-off",
        "xla-blocked-by-layer",
        "batch-below-saturation",
        "small-launches",
        "elementwise-chain",
        "unfused-batch-norm",
        "unfused-optimizer",
    ),
    fires=({"eager": True, "host_s": 0.008, "step_s": 0.01},),
    silent=({"eager": False, "host_s": 0.008, "step_s": 0.01},),
)
