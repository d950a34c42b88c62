"""A Dense layer behind Flatten that holds most of the model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime import units
from steptime.diagnosis.model.rule import Case, Found, Lint

_MANY = 10_000_000
_MOST = 0.5


def _find(flat_dense: Sequence[Mapping[str, Any]], parameters: int) -> Iterator[Found]:
    for dense in flat_dense:
        count = dense["parameters"]
        if count > _MANY and count > _MOST * parameters:
            yield Found(
                evidence=(
                    f"{dense['layer']} behind {dense['behind']}: {dense['inputs']:,} x {dense['units']:,} = "
                    f"{count:,} of the model's {parameters:,} parameters "
                    f"({units.share(count / parameters)}); with Adam {units.size_bytes(count * 16)} of weights, "
                    "gradients and moments"
                )
            )


def _case(parameters: int, total: int) -> Case:
    dense = {
        "layer": "dense", "behind": "flatten", "inputs": parameters // 128, "units": 128, "parameters": parameters,
    }  # fmt: skip
    return Case(facts={"flat_dense": [dense], "parameters": total})


LINT = Lint(
    kind="giant-dense",
    title="A Dense layer behind Flatten holds most of the model's parameters.",
    severity="hint",
    consequence=(
        "Every step reads and writes all of them, several times with Adam, while it computes little: time "
        "goes to memory, and so many weights of one layer overfit easily."
    ),
    fix="layers.GlobalAveragePooling2D()   # in place of layers.Flatten()",
    needs=("flat_dense", "parameters"),
    find=_find,
    fires=(_case(33_554_432, 34_000_000),),
    silent=(
        _case(204_800, 240_000),
        _case(12_000_000, 100_000_000),
        Case(facts={"flat_dense": [], "parameters": 9}),
    ),
)
