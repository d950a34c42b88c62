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
    is_injected = pipeline[-1].get("injects_prefetch", True)
    yield Found(
        evidence=f"the pipeline ends in {ops[-1]}: {' -> '.join(ops)}",
        severity=None if is_injected else "warning",
        consequence=None if is_injected else (
            "The data set's options switch off TensorFlow's own prefetch, so each batch is made while the "
            "device waits."
        ),
    )  # fmt: skip


def _case(*ops: str, severity: str = "", injects: bool = True) -> Case:
    steps: list[dict[str, Any]] = [{"op": op} for op in ops]
    if steps:
        steps[-1]["injects_prefetch"] = injects
    return Case(facts={"pipeline": steps}, severity=severity)


LINT = Lint(
    kind="not-prefetched",
    title="The tf.data pipeline does not end in prefetch.",
    severity="hint",
    consequence=(
        "TensorFlow puts a prefetch at the end by itself while its autotuning is on, as it is by default; "
        "older releases, and data sets whose options switch it off, make each batch while the device waits."
    ),
    fix="dataset = dataset.prefetch(tf.data.AUTOTUNE)   # as the last step",
    needs=("pipeline",),
    find=_find,
    fires=(
        _case("slices", "shuffle", "batch"),
        _case("slices", "prefetch", "batch"),
        _case("slices", "batch", injects=False, severity="warning"),
    ),
    silent=(_case("slices", "batch", "prefetch"), _case("slices", "batch", "prefetch", "repeat"), _case()),
)
