"""A tf.data pipeline without ``prefetch``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint

# These compute nothing behind a prefetch.
_LIGHT = ("repeat", "take", "skip", "options")


def _find(pipeline: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    ops = [step["op"] for step in pipeline]
    while ops and ops[-1] in _LIGHT:
        ops.pop()
    if not ops or ops[-1] == "prefetch":
        return
    is_optimised = pipeline[-1].get("is_optimised", True)
    yield Found(
        evidence=f"the pipeline ends in {ops[-1]}: {' -> '.join(ops)}",
        severity=None if is_optimised else "warning",
        consequence=None if is_optimised else (
            "The data set's options switch off TensorFlow's own rewriting, so each batch is made while the "
            "device waits."
        ),
    )  # fmt: skip


def _case(*ops: str, severity: str = "", optimised: bool = True) -> Case:
    steps: list[dict[str, Any]] = [{"op": op} for op in ops]
    if steps:
        steps[-1]["is_optimised"] = optimised
    return Case(facts={"pipeline": steps}, severity=severity)


LINT = Lint(
    kind="not-prefetched",
    title="The tf.data pipeline does not end in prefetch.",
    severity="hint",
    consequence=(
        "TensorFlow's default rewriting makes maps parallel and adds a prefetch by itself (measured with 2.21: no "
        "difference); older releases, and data sets whose options switch it off, make each batch while the device "
        "waits."
    ),
    fix="dataset = dataset.prefetch(tf.data.AUTOTUNE)   # as the last step",
    needs=("pipeline",),
    find=_find,
    fires=(
        _case("slices", "shuffle", "batch"),
        _case("slices", "prefetch", "batch"),
        _case("slices", "batch", optimised=False, severity="warning"),
    ),
    silent=(_case("slices", "batch", "prefetch"), _case("slices", "batch", "prefetch", "repeat"), _case()),
)
