"""A layer that switches XLA off for the whole model."""

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(xla: Mapping[str, Any], gpus: int) -> Iterator[Found]:
    blocking = xla["blocking"]
    if blocking and not xla["used"]:
        more = f" and {len(blocking) - 4} more" if len(blocking) > 4 else ""
        yield Found(
            evidence=f"jit_compile is False; XLA can't compile {', '.join(blocking[:4])}{more}",
            severity="warning" if gpus else None,
            confidence="medium",
        )


def _case(*blocking: str, used: bool = False, gpus: int = 0, severity: str = "") -> Case:
    return Case(facts={"xla": {"used": used, "blocking": list(blocking)}, "gpus": gpus}, severity=severity)


LINT = Lint(
    kind="xla-switched-off",
    title="A layer in the model switches XLA off.",
    severity="hint",
    consequence=(
        "On a GPU Keras compiles the whole step with XLA by itself, unless one layer can't be compiled: then "
        "every operation is launched singly, which costs most in models of many small ones. On a CPU XLA is "
        "off anyway."
    ),
    fix=(
        "dataset = dataset.map(lambda x, y: (augment(x, training=True), y))   # the layer in the pipeline, "
        "not in the model"
    ),
    needs=("xla", "gpus"),
    find=_find,
    fires=(
        _case("random_rotation (RandomRotation)", gpus=1, severity="warning"),
        _case("random_zoom (RandomZoom)"),
    ),
    silent=(_case(gpus=1), _case(used=True, gpus=1)),
)
