"""Embedding tables that are updated as a whole in every step."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime import units
from steptime.diagnosis.model.rule import Case, Found, Lint

_LARGE_BYTES = 20 * 10**6


def _find(embeddings: Sequence[Mapping[str, Any]], optimizer: Mapping[str, Any]) -> Iterator[Found]:
    if optimizer["class"] == "SGD" and not optimizer["momentum"]:
        return  # Keras writes only the rows that occurred.
    for table in embeddings:
        if table["bytes"] < _LARGE_BYTES:
            continue
        ids = table.get("ids_per_batch")
        used = f"; a batch uses at most {ids:,} of them" if ids is not None and ids < table["rows"] else ""
        yield Found(
            evidence=(
                f"{table['layer']}: {table['rows']:,} x {table['width']} = "
                f"{units.size_bytes(table['bytes'])}; {optimizer['class']} updates all {table['rows']:,} "
                f"rows in every step{used}"
            ),
            severity="warning" if used and ids is not None and ids * 10 < table["rows"] else None,
        )


def _case(rows: int, optimizer: str, ids: int | None, severity: str = "") -> Case:
    table = {"layer": "embedding", "rows": rows, "width": 128, "bytes": rows * 512, "ids_per_batch": ids}
    facts = {"embeddings": [table], "optimizer": {"class": optimizer, "momentum": 0.0}}
    return Case(facts=facts, severity=severity)


LINT = Lint(
    kind="dense-embedding-updates",
    title="A large embedding table is updated as a whole in every step.",
    severity="hint",
    consequence=(
        "Keras' optimizers with moments turn the few rows' gradient into a table of its full size, and read "
        "and write the table and its moments each step: the step's time is that of the table, not of the "
        "batch."
    ),
    fix=(
        "model.compile(optimizer=keras.optimizers.SGD(0.1), ...)   # writes used rows only; or fewer rows, "
        "by hashing"
    ),
    needs=("embeddings", "optimizer"),
    find=_find,
    fires=(
        _case(1_000_000, "Adam", 8192, "warning"),
        _case(1_000_000, "Adam", None),
        _case(60_000, "Adam", 32_000),
    ),
    silent=(
        _case(10_000, "Adam", 8192),
        _case(1_000_000, "SGD", 8192),
        Case(facts={"embeddings": [], "optimizer": {"class": "Adam", "momentum": None}}),
    ),
)
