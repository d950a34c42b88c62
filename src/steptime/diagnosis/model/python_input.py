"""Batches that Python makes while the training waits."""

from collections.abc import Iterator, Mapping
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint

_DATASET = "dataset.map(decode_and_augment, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)"


def _find(source: Mapping[str, Any]) -> Iterator[Found]:
    kind = source["kind"]
    if kind == "generator":
        yield Found(
            evidence=f"x is a Python generator ({source['class']}): one thread makes the batches, one by one"
        )
    elif kind == "PyDataset" and source["workers"] <= 1:
        yield Found(
            evidence=f"x is a PyDataset ({source['class']}) with workers={source['workers']}, the default",
            fix=(
                "super().__init__(workers=4, use_multiprocessing=True, max_queue_size=16)   # in its __init__"
            ),
            consequence="One thread makes a batch after the other, and holds Python's lock while it does.",
        )
    elif kind == "tf.data" and source["python_ops"]:
        yield Found(evidence=f"the tf.data pipeline calls Python: {', '.join(source['python_ops'])}")


def _case(kind: str, **more: Any) -> Case:
    return Case(facts={"source": {"kind": kind, "class": "Batches"} | more})


LINT = Lint(
    kind="python-input",
    title="Python makes the batches.",
    severity="warning",
    consequence=(
        "Batches are made one at a time under Python's lock, which the training loop needs as well: a fast "
        "device waits. If the data fit into memory, arrays are fastest."
    ),
    fix=f"dataset = {_DATASET}",
    needs=("source",),
    find=_find,
    fires=(
        _case("generator"),
        _case("PyDataset", workers=1),
        _case("tf.data", python_ops=["from_generator"]),
        _case("tf.data", python_ops=["numpy_function"]),
    ),
    silent=(_case("arrays"), _case("PyDataset", workers=4), _case("tf.data", python_ops=[])),
)
