"""The batch is too small to keep the device busy."""

from steptime.diagnosis.condition import Check, is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

# Twice the work in less than this much more time: most of a step is not spent on samples.
_SATURATED = 1.8

RULE = SpeedRule(
    kind="batch-below-saturation",
    title="A batch of {batch_size} is too small: twice as many samples take {doubled_step_s} instead of"
    " {resident_step_s}.",
    cause=(
        "A step has a part that does not depend on the batch: dispatch, launches, the optimizer. With few samples "
        "it is most of the step."
    ),
    when=Check(
        "resident_step_s",
        "doubled_step_s",
        "batch_size",
        test=lambda once, twice, batch: twice < _SATURATED * once and batch < 4096,
    ),
    saving=Saving(
        names=("resident_step_s", "doubled_step_s"),
        calculate=lambda once, twice: min(2 * once - twice, once),
        how="the part that does not grow with the batch: twice {resident_step_s} less {doubled_step_s}",
    ),
    ways=(
        Way(
            patch={"batch_size": "{batch_size_next}"},
            lines=("# fewer, larger steps train differently: look at the loss, and raise the learning rate",),
            changes_results=True,
            where=is_("source", "arrays"),
        ),
        Way(
            lines=(
                "dataset.batch({batch_size_next})  # and raise the learning rate: look at the loss",
                "# a generator or PyDataset: make batches of that size",
            ),
            changes_results=True,
        ),
    ),
    clear="The device is saturated: twice the batch takes almost twice as long.",
    explains=("small-launches",),
    fires=(
        {
            "source": "arrays",
            "resident_step_s": 0.001,
            "doubled_step_s": 0.00105,
            "batch_size": 2,
            "step_s": 0.0011,
        },
    ),
    silent=({"resident_step_s": 0.001, "doubled_step_s": 0.0019, "batch_size": 32, "step_s": 0.0011},),
)
