"""Measures `steptime.fit` against stock `keras.Model.fit`, or with `--peers` against PyTorch and other
backends.

    python benchmarks/fit.py                     # fourteen models, about half an hour on two cores
    python benchmarks/fit.py --models mlp-32 cnn-32 --repeats 5
    python benchmarks/fit.py --peers             # three models by eight ways
    python benchmarks/fit.py --quick             # does it run? few rows, one repeat: the numbers mean nothing

Each training runs in a process of its own, so that none warms the next, and the ways take turns (A B, B A,
...). Writes fit.json, fit.md and fit.svg (peers.json, ...) to the results folder. README.md says how to
read them.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import machine
import measure
import page
from peers import environments

HERE = Path(__file__).parent
QUICK_ROWS = 3_200
PEER_EPOCHS = 3  # of the second call, whose first epoch is not counted
PEERS = {
    "torch": ("torch", "torch_arm.py", ("eager",), {}),
    "torch-1-thread": ("torch", "torch_arm.py", ("eager",), {"OMP_NUM_THREADS": "1"}),
    "torch-compile": ("torch", "torch_arm.py", ("compile",), {}),
    "lightning": ("lightning", "torch_arm.py", ("lightning",), {}),
    "keras-jax": ("keras-jax", "keras_arm.py", (), {"KERAS_BACKEND": "jax"}),
    "keras-torch": ("keras-torch", "keras_arm.py", (), {"KERAS_BACKEND": "torch"}),
}
PEER_JOBS = ("mlp-32", "lstm-32", "cnn-32")


def main() -> None:
    asked = _arguments()
    from zoo import JOBS  # imports TensorFlow, which `--help` need not wait for

    wanted = asked.models or (PEER_JOBS if asked.peers else [job.name for job in JOBS])
    names = [job.name for job in JOBS]
    if unknown := set(wanted) - set(PEER_JOBS if asked.peers else names):
        sys.exit(f"unknown models: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    asked.out.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "date": datetime.now(UTC).date().isoformat(),
        "repeats": asked.repeats,
        "quick": asked.quick,
        "models": [],
    }
    stem = "peers" if asked.peers else "fit"
    for job in (job for job in JOBS if job.name in wanted):
        rows = min(job.rows, QUICK_ROWS) if asked.quick else job.rows
        print(f"{job.name}: {rows} rows, batch {job.batch}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            arms = _own_arms(job, rows)
            if asked.peers:
                arms |= _peer_arms(job, rows, Path(folder) / "data.npz", asked.environments)
            measured = measure.alternate(
                arms, asked.repeats, lambda line: print(f"  {line}", file=sys.stderr, flush=True)
            )
        results["models"].append(
            {"name": job.name, "what": job.what, "rows": rows, "batch": job.batch, "arms": measured}
        )
        # Written after each model: a run cut short keeps what it has.
        (asked.out / f"{stem}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        (page.write_peers if asked.peers else page.write_fit)(results, asked.out)
    print((asked.out / f"{stem}.md").read_text(encoding="utf-8"))


def _own_arms(job: Any, rows: int) -> dict[str, Callable[[], measure.Arm]]:
    command = [sys.executable, str(HERE / "arm.py"), job.name]
    return {
        way: partial(measure.run, [*command, way, "--rows", str(rows), "--epochs", str(job.epochs)])
        for way in ("keras", "steptime")
    }


def _peer_arms(job: Any, rows: int, data: Path, folder: Path) -> dict[str, Callable[[], measure.Arm]]:
    import numpy as np

    arrays = job.data(rows)
    np.savez(data, x=arrays["x"], y=arrays["y"])
    arms: dict[str, Callable[[], measure.Arm]] = {}
    for name, (environment, script, before, variables) in PEERS.items():
        try:
            python = environments.python_of(environment, folder)
        except (environments.SetupFailedError, OSError) as error:
            arms[name] = partial(dict, failed=f"environment: {error}")
            continue
        command = [str(python), str(HERE / "peers" / script), *before, job.name, str(data)]
        arms[name] = partial(measure.run, [*command, str(job.batch), str(PEER_EPOCHS)], variables)
    return arms


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each way (default 3)")
    parser.add_argument("--quick", action="store_true", help="few rows, one repeat")
    parser.add_argument("--peers", action="store_true", help="PyTorch, Lightning, Keras on JAX and torch")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="results folder")
    parser.add_argument(
        "--environments", type=Path, default=environments.default_folder(), help="where peers are installed"
    )
    asked = parser.parse_args()
    if asked.quick:
        asked.repeats = 1
    return asked


if __name__ == "__main__":
    main()
