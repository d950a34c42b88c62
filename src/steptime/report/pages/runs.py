"""The list of runs."""

from collections.abc import Iterable

from steptime import units
from steptime.record.schema import RunRecord
from steptime.record.store import RunSummary
from steptime.report.document import Document, Table
from steptime.report.pages.run import UNKNOWN, shown


def runs_page(runs: Iterable[RunSummary]) -> Document:
    """Return one row a run, oldest first."""
    columns = ("run", "state", "device", "epochs", "samples/s", "loss", "last metrics")
    rows = tuple((summary.run_id, summary.state, *_cells(summary.record)) for summary in runs)
    return Document(title="", parts=(Table(columns=columns, rows=rows, right=(3, 4, 5)),))


def _cells(record: RunRecord | None) -> tuple[str, ...]:
    if record is None:
        return ("", "", "", "", "")
    last = record.epochs[-1].logs if record.epochs else {}
    speed = record.steps.samples_per_s if record.steps else None
    metrics = "  ".join(
        f"{key} {shown(value)}" for key, value in last.items() if key not in ("loss", "val_loss")
    )
    return (
        record.device or UNKNOWN,
        str(len(record.epochs)),
        units.rate(speed, "").removesuffix("/s").strip() if speed else UNKNOWN,
        shown(last.get("loss")) if "loss" in last else UNKNOWN,
        metrics,
    )
