"""The step is traced again and again."""

from steptime.diagnosis.condition import more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="retracing",
    title="The step was traced again {retraces} times, for the shapes {retrace_shapes}.",
    cause=(
        "For each new shape of a batch TensorFlow builds the step's graph anew (and XLA compiles it anew), which "
        "takes as long as hundreds of steps."
    ),
    when=more("retraces", 0),
    saving=Saving(
        names=("retrace_s",),
        calculate=lambda seconds: seconds,
        how="measured: time in tracing after the first block, over the steps of the run",
    ),
    ways=(
        Way(
            lines=(
                "dataset.padded_batch(n, padded_shapes=([LENGTH], []), drop_remainder=True)  # one shape for all",
                "# or a few lengths: dataset.bucket_by_sequence_length(..., pad_to_bucket_boundary=True)",
            )
        ),
    ),
    clear="The step was traced once.",
    fires=({"retraces": 12, "retrace_shapes": ("(32, 17)", "(32, 23)"), "retrace_s": 0.02, "step_s": 0.025},),
    silent=({"retraces": 0, "retrace_s": 0.0, "step_s": 0.025},),
)
