"""Whether a run that failed is worth another start, and how: decided from its outcome alone. Pure."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from steptime.plan.plan import Plan
from steptime.record.schema import Attempt, Outcome

# A worker that ends like this may have met something that has passed.
_PASSING = ("killed", "crashed")
_TRAINING = ("warmup", "train", "validate", "save")


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Another start.

    Attributes:
        plan: What it is started with.
        words: What is done about the failure, for people.
    """

    plan: Plan
    words: str


def next_start(
    plan: Plan, outcome: Outcome, earlier: Sequence[Attempt], samples: int | None = None
) -> Again | None:
    """Return how to start again, or None when the run has ended.

    Wrong use, an exception in the person's own code and a loss that is not finite would come again. So would memory
    that runs out, unless the batch may be halved, and a crash at the very same place before training.

    Args:
        plan: What was started.
        outcome: How it ended.
        earlier: The starts before this one.
        samples: Samples of an update, as the worker found them; None where it did not say. A stream has batches of its
            own, whatever the settings say.
    """
    fault = outcome.fault
    if outcome.status != "failed" or fault is None:
        return None
    if fault.kind == "out of memory":
        return _halved(plan, outcome, samples)
    retried = sum(item.fault is not None and item.fault.kind in _PASSING for item in earlier)
    if fault.kind not in _PASSING or retried >= plan.protocol.retries or _is_repeated(outcome, earlier):
        return None
    return Again(plan=plan, words=f"starting again (retry {retried + 1} of {plan.protocol.retries})")


def next_split(batch_size: int, split: int) -> int | None:
    """Return into how many equal parts a batch is split next: at least twice as many; None when there are none.

    >>> next_split(32, 1), next_split(50, 2), next_split(1, 1)
    (2, 5, None)
    """
    return next((n for n in range(2 * split, batch_size + 1) if batch_size % n == 0), None)


def _halved(plan: Plan, outcome: Outcome, samples: int | None) -> Again | None:
    if plan.protocol.on_oom != "halve" or outcome.phase not in _TRAINING:
        return None
    split = next_split(samples or plan.settings.batch_size, plan.split)
    if split is None:
        return None
    parts = f"each batch cut in {split}" if samples is None else f"{samples // split} samples a step"
    whole = "the same samples" if samples is None else f"the same {samples} samples"
    words = (
        f"going on with {parts} and {split} steps an update: {whole} make an update as before. Not the same: batch "
        "normalisation sees smaller batches, dropout draws other numbers, and an incomplete batch at the end of an "
        "epoch shares its update with the next one"
    )
    return Again(plan=dataclasses.replace(plan, split=split), words=words)


def _is_repeated(outcome: Outcome, earlier: Sequence[Attempt]) -> bool:
    """Whether the worker has now twice ended by itself in the same phase before it trained.

    A library that crashes when it is imported does so every time; who sends SIGKILL does it from outside.
    """
    if not earlier or outcome.phase in _TRAINING or "SIGKILL" in (outcome.reason or ""):
        return False
    return (outcome.phase, outcome.reason) == (earlier[-1].phase, earlier[-1].reason)
