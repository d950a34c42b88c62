"""A layer that switches XLA off for the whole model."""

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(xla: Mapping[str, Any], gpus: int) -> Iterator[Found]:
    blocking = xla["blocking"]
    if blocking and xla["asked"] is not False and not xla["used"]:
        yield Found(
            evidence=(
                f"jit_compile={xla['asked']!r} became False because of {', '.join(blocking[:4])}"
                + (f" and {len(blocking) - 4} more" if len(blocking) > 4 else "")
            ),
            severity="warning" if gpus else None,
        )


def _case(*blocking: str, asked: Any = "auto", gpus: int = 0, severity: str = "") -> Case:
    facts = {"asked": asked, "used": False, "blocking": list(blocking)}
    return Case(facts={"xla": facts, "gpus": gpus}, severity=severity)


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
    silent=(_case(gpus=1), _case("random_zoom (RandomZoom)", asked=False, gpus=1)),
)
