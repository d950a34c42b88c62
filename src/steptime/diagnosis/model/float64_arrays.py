"""Arrays of double precision."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime import units
from steptime.diagnosis.model.rule import Case, Found, Lint

# Below this nobody waits for the copy.
_SMALL_BYTES = 2**20
_LARGE_BYTES = 256 * 2**20


def _find(arrays: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    for array in arrays:
        size = array["bytes"]
        if array["dtype"] != "float64" or (size is not None and size < _SMALL_BYTES):
            continue
        if size is None:
            yield Found(
                evidence=f"{array['name']} of the tf.data pipeline is float64",
                consequence=(
                    "Every batch is made, moved to the device and there cast to float32: twice the bytes per "
                    "step."
                ),
                fix=(
                    "dataset = dataset.map(lambda x, y: (tf.cast(x, tf.float32), y))   # or cast the arrays "
                    "before"
                ),
            )
        else:
            yield Found(
                evidence=f"{array['name']} {tuple(array['shape'])} is float64: {units.size_bytes(size)}",
                severity="warning" if size >= _LARGE_BYTES else None,
            )


def _case(dtype: str, size: int | None, severity: str = "") -> Case:
    array = {"name": "x", "dtype": dtype, "bytes": size, "shape": [60000, 28, 28]}
    return Case(facts={"arrays": [array]}, severity=severity)


LINT = Lint(
    kind="float64-arrays",
    title="Data are held in double precision, which the model does not use.",
    severity="hint",
    consequence=(
        "Keras makes a float32 copy of the whole array before the first step: three times the memory in all, "
        "and a slower start; x / 255.0 on uint8 images is the usual origin."
    ),
    fix="x = x.astype('float32') / 255   # or keep uint8 and put layers.Rescaling(1 / 255) first",
    needs=("arrays",),
    find=_find,
    fires=(
        _case("float64", 376_320_000, "warning"),
        _case("float64", 10_000_000),
        _case("float64", None),
    ),
    silent=(_case("float32", 188_160_000), _case("uint8", 47_040_000), _case("float64", 8_000)),
)
