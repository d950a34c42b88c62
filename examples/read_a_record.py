"""Reads the newest record with nothing but Python: python examples/read_a_record.py [RUNS]

A record is plain JSON, runs/STUDY/RUN/run.json; docs/record.md says what each field means. A value that could
not be measured is null, and `unavailable` says why.
"""

import json
import sys
from pathlib import Path


def newest(runs: Path) -> Path:
    """The run.json below ``runs`` that was written last."""
    records = sorted(runs.rglob("run.json"), key=lambda path: path.stat().st_mtime)
    if not records:
        sys.exit(f"error: no run.json in {runs.resolve()}\nhint: `steptime train` makes one")
    return records[-1]


def main(runs: Path) -> None:
    """Prints what was asked for, how it ended, where it ran and what it reached."""
    path = newest(runs)
    record = json.loads(path.read_text(encoding="utf-8"))

    print(f"run       {record['run_id']}, {record['created']}")
    print(f"outcome   {record['outcome']['status']} in phase {record['outcome']['phase']}")
    print(f"device    {record['device']}")
    if record["proof"]:
        for device, count in record["proof"]["compute_ops"].items():
            print(f"proof     {count} compute ops of the training step on {device}")
    for epoch in record["epochs"]:
        logs = ", ".join(f"{name} {value}" for name, value in epoch["logs"].items())
        print(f"epoch {epoch['epoch']}   {logs}")
    if record["steps"] and record["steps"]["samples_per_s"] is not None:
        print(f"speed     {record['steps']['samples_per_s']:.0f} samples/s at steady state")
    for what, why in record["unavailable"].items():
        print(f"unknown   {what}: {why}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs"))
