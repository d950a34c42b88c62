"""The Markdown page of `resume.py`'s results."""

from pathlib import Path
from typing import Any

import machine
from resume_kills import JOBS, KINDS

TITLES = {"steptime": "steptime", "keras": "Keras' BackupAndRestore", "lightning": "Lightning"}
EQUALS = ("weights", "history", "batches", "stopped at")


def write(results: dict[str, Any], path: Path) -> None:
    """Write the page."""
    trials = results["trials"]
    ways = [way for way in TITLES if any(item["way"] == way for item in trials)]
    parts = [
        "# Trainings killed and resumed\n",
        f"{results['date']}. {machine.as_text(results['machine'])}\n",
        (
            "Each training is killed with SIGKILL, started again, and compared with the same training left alone. "
            "Equal means equal to the last bit: weights and optimizer variables, History, number of trained "
            "batches, last epoch.\n"
        ),
        _table("what is equal", ways, trials, _equal_rows),
        _table(
            "when it was killed: trials in which all four are equal", ways, trials, _rows_by("kind", KINDS)
        ),
        _table(
            "what was trained: trials in which all four are equal",
            ways,
            trials,
            _rows_by("job", dict.fromkeys(JOBS)),
        ),
    ]
    own = [item for item in trials if item["way"] == "steptime"]
    loops = dict.fromkeys(sorted({item["loop"] for item in own}))
    if own:
        parts.append(_table("steptime's loops: all four equal", ["steptime"], own, _rows_by("loop", loops)))
    parts.append(_failures(trials))
    path.write_text("\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def is_exact(item: dict[str, Any]) -> bool:
    """Whether a trial ended in every respect as if nothing had happened."""
    return "equal" in item and all(item["equal"].values())


def _table(title: str, ways: list[str], trials: list[dict[str, Any]], rows: Any) -> str:
    lines = [
        f"| {title} | " + " | ".join(TITLES[way] for way in ways) + " |",
        "| --- |" + " --: |" * len(ways),
    ]
    columns = [rows([item for item in trials if item["way"] == way and item["killed"]]) for way in ways]
    lines += [
        f"| {label} | " + " | ".join(column.get(label, "") for column in columns) + " |"
        for label in dict.fromkeys(label for column in columns for label in column)
    ]
    return "\n".join(lines) + "\n"


def _equal_rows(trials: list[dict[str, Any]]) -> dict[str, str]:
    rows = {name: _share([bool(item.get("equal", {}).get(name)) for item in trials]) for name in EQUALS}
    rows["**all four**"] = "**" + _share([is_exact(item) for item in trials]) + "**"
    rows["could not resume"] = str(sum("failed" in item for item in trials))
    return rows


def _rows_by(field: str, names: dict[str, Any]) -> Any:
    def rows(trials: list[dict[str, Any]]) -> dict[str, str]:
        return {
            names[name] or name: _share([is_exact(item) for item in trials if item[field] == name])
            for name in names
            if any(item[field] == name for item in trials)
        }

    return rows


def _share(values: list[bool]) -> str:
    return f"{sum(values)} of {len(values)}"


def _failures(trials: list[dict[str, Any]]) -> str:
    """List steptime's trials that were not exact: they are faults."""
    lines = [
        f"* {item['job']}, {item['loop']}, {KINDS[item['kind']]} ({'; '.join(item['killed'])}): "
        + (item.get("failed") or f"greatest difference of a weight {item.get('difference', 0.0):.3g}")
        for item in trials
        if item["way"] == "steptime" and item["killed"] and not is_exact(item)
    ]
    return "Not exact:\n\n" + "\n".join(lines) if lines else ""
