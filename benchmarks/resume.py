"""Kills trainings with SIGKILL at random instants, lets them resume, and compares them with ones left alone.

    python benchmarks/resume.py                          # steptime, Keras' BackupAndRestore, Lightning
    python benchmarks/resume.py --ways steptime --trials 12
    python benchmarks/resume.py --limit 170              # stop after so many seconds; call again to go on

Each trial trains one of eight jobs until it is killed (once or twice), starts it again, and compares weights,
optimizer variables, History, number of trained batches and the epoch it stopped at with those of the same training
left alone, to the last bit. Trials already in the results file are not repeated. README.md says how to read them.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import machine
import resume_page
from nursery import Nursery
from peers import environments
from resume_kills import compare, trial

HERE = Path(__file__).parent


def main() -> None:
    asked = _arguments()
    asked.out.mkdir(parents=True, exist_ok=True)
    path = asked.out / "resume.json"
    results: dict[str, Any] = (
        json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"trials": []}
    )
    results |= {"machine": machine.describe(), "date": datetime.now(UTC).date().isoformat()}
    end_s = time.monotonic() + asked.limit
    for way in asked.ways:
        done = {item["index"] for item in results["trials"] if item["way"] == way}
        left = [index for index in range(asked.start, asked.trials) if index not in done]
        if not left or time.monotonic() > end_s:
            continue
        nursery = _nursery(way, asked.environments)
        for index in left:
            if time.monotonic() > end_s:
                break
            found = run_trial(nursery, way, index, asked.work)
            print(_brief(found), file=sys.stderr, flush=True)
            results["trials"].append(found)
            _write(path, results)
        nursery.close()
    _write(path, results)
    print((asked.out / "resume.md").read_text(encoding="utf-8"))


def run_trial(nursery: Nursery, way: str, index: int, work: Path) -> dict[str, Any]:
    """Interrupt one training as its number says, and return what became of it."""
    job, loop, kind, kills = trial(way, index)
    found: dict[str, Any] = {"way": way, "index": index, "job": job, "loop": loop, "kind": kind, "killed": []}
    reference = _reference(nursery, way, job, loop, work)
    folder = work / f"{way}-{index}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    order = {"way": way, "job": job, "loop": loop, "folder": str(folder), "log": str(folder / "log")}
    for kill in (*kills, None):
        answer = nursery.order(**order, kill=kill)
        if answer["killed"]:
            found["killed"].append(_where(answer["marks"]))
        elif answer["status"]:
            return found | {"failed": _last_line(folder / "log")}
        else:
            break
    if (folder / "result.json").exists():
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        found["equal"] = compare(reference, result)
        found["batches"] = [result["batches"], reference["batches"]]
        found["epochs"] = [len(result["epochs"]), len(reference["epochs"])]
        if not found["equal"]["weights"]:
            found["difference"] = _difference(folder, _reference_folder(way, job, loop, work))
        shutil.rmtree(folder)
    else:
        found["failed"] = "it was killed after the last start, too"
    return found


def _nursery(way: str, folder: Path) -> Nursery:
    if way == "lightning":
        python = environments.python_of("lightning", folder)
        return Nursery([str(python), str(HERE / "peers" / "lightning_resume.py")])
    return Nursery([sys.executable, str(HERE / "resume_jobs.py")])


def _reference_folder(way: str, job: str, loop: str, work: Path) -> Path:
    return work / "references" / f"{way}-{job}-{loop}"


def _reference(nursery: Nursery, way: str, job: str, loop: str, work: Path) -> dict[str, Any]:
    """Return the result of the training that is left alone; made once."""
    folder = _reference_folder(way, job, loop, work)
    if not (folder / "result.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        answer = nursery.order(way=way, job=job, loop=loop, folder=str(folder), log=str(folder / "log"))
        if answer["status"]:
            sys.exit(f"{way}, {job}, {loop}: the uninterrupted training failed: {_last_line(folder / 'log')}")
    result: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return result


def _where(marks: list[dict[str, Any]]) -> str:
    """Say what a killed training did last."""
    last = marks[-1] if marks else {"kind": "start"}
    steps = [mark for mark in marks if "step" in mark]
    return f"{last['kind']}, step {steps[-1]['step'] if steps else 0}"


def _difference(folder: Path, reference: Path) -> float:
    """Return the greatest difference between weights or optimizer variables."""
    with np.load(folder / "result.npz") as got, np.load(reference / "result.npz") as expected:
        pairs = [(got[name], expected[name]) for name in expected.files]
    return max(float(np.max(np.abs(a.astype("float64") - b), initial=0.0)) for a, b in pairs)


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "it left no words")[:300]


def _brief(found: dict[str, Any]) -> str:
    unequal = [name for name, is_equal in found.get("equal", {}).items() if not is_equal]
    verdict = found.get("failed") or (f"differs in {', '.join(unequal)}" if unequal else "exact")
    killed = "; ".join(found["killed"]) or "not killed"
    return f"{found['way']} {found['index']}: {found['job']}, {found['loop']}, {found['kind']} ({killed}): {verdict}"


def _write(path: Path, results: dict[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    part.replace(path)
    resume_page.write(results, path.with_suffix(".md"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ways = ("steptime", "keras", "lightning")
    parser.add_argument("--ways", nargs="+", choices=ways, default=ways, help="only these")
    parser.add_argument("--start", type=int, default=0, help="number of the first trial (default 0)")
    parser.add_argument("--trials", type=int, default=62, help="of each way (default 62)")
    parser.add_argument(
        "--limit", type=float, default=float("inf"), help="begin no trial after so many seconds"
    )
    parser.add_argument("--out", type=Path, default=HERE / "results", help="results folder")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "steptime-resume",
        help="where trainings write",
    )
    parser.add_argument(
        "--environments", type=Path, default=environments.default_folder(), help="where peers are installed"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
