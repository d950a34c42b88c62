"""Every step copies its batch to the GPU from pageable memory."""

from steptime.diagnosis.condition import All, is_, more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="pageable-copies",
    title="Each step copies {pageable_copy_bytes} to the GPU from pageable memory, in {pageable_copy_s}.",
    cause=(
        "The driver first copies such memory into a page-locked buffer of its own, and the step waits for both. "
        "Data that lie on the device need no copy at all."
    ),
    applies=is_("device", "gpu"),
    when=All(more("pageable_copy_s", 0)),
    saving=Saving(
        names=("pageable_copy_s",),
        calculate=lambda part: part,
        how="measured: time in these copies, from the trace",
    ),
    ways=(
        Way(patch={"loop": "auto"}, where=All(is_("source", "arrays"), is_("loop_asked", "keras"))),
        Way(
            lines=(
                (
                    "dataset.apply(tf.data.experimental.prefetch_to_device('/gpu:0'))  # last; uint8 has a quarter of"
                    " the bytes"
                ),
            ),
        ),
    ),
    clear="No step copies its batch from pageable memory.",
    fires=({"device": "gpu", "pageable_copy_s": 0.004, "pageable_copy_bytes": 40_000_000, "step_s": 0.01},),
    silent=({"device": "gpu", "pageable_copy_s": 0.0, "step_s": 0.01},),
)
