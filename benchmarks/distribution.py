"""Does a training by several devices or processes come out as on one? `python distribution.py [--jobs cnn,...]`.

Trains each job of distribution_jobs.py on one device, on logical CPU devices under MirroredStrategy, and in processes
on loopback under MultiWorkerMirroredStrategy. Weights, optimizer and History are compared with those of one device,
and between processes to the last bit. Exits with 1 when anything differs by more than is allowed.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# Sums over shares round differently: a unit in float32's last place (6e-8) a step, which training then carries on.
# Adam divides by the root of the squared gradient, where that difference counts most.
TOLERANCE = 2e-4
REVERSED = ", reversed"
RESULTS = Path(__file__).parent / "results" / "distribution.json"


def child(devices: int, jobs: list[str], out: Path) -> None:
    """Train in this process; under TF_CONFIG as one worker of a group."""
    import keras
    import numpy as np
    import tensorflow as tf

    import steptime
    from distribution_jobs import JOBS

    in_group = "TF_CONFIG" in os.environ
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * devices)
    strategy: Any = tf.distribute.get_strategy()
    if in_group:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    elif devices > 1:
        strategy = tf.distribute.MirroredStrategy([f"CPU:{number}" for number in range(devices)])
    found, arrays = {}, {}
    is_alone = not in_group and devices == 1
    alone = {"loop": "graph"} if is_alone else {}
    chosen = [(job.name, job) for job in JOBS if job.name in jobs]
    if is_alone:
        chosen += [(job.name + REVERSED, job) for _, job in chosen if job.is_chaotic]
    for name, job in chosen:
        keras.utils.set_random_seed(1)
        with tf.name_scope("") if is_alone else strategy.scope():
            model = job.build()
        if name.endswith(REVERSED):
            model.train_step = reversed_step(model)
        begin_s = time.perf_counter()
        history = steptime.fit(model, **job.data(), callbacks=job.callbacks(), verbose=0, seed=3, **alone)
        state = [np.asarray(v.numpy()) for v in (*model.weights, *model.optimizer.variables)]
        arrays |= {f"{name}/{number}": value for number, value in enumerate(state)}
        found[name] = {
            "history": {key: [float(v) for v in values] for key, values in history.history.items()},
            "hash": hashlib.sha256(b"".join(value.tobytes() for value in state)).hexdigest(),
            "loop": history.steptime.loop,
            "seconds": time.perf_counter() - begin_s,
        }
        print(name, found[name]["seconds"], flush=True)
    np.savez(out.with_suffix(".npz"), **arrays)
    out.write_text(json.dumps(found))


def reversed_step(model: Any) -> Any:
    """The model's step with the samples of the batch in reverse order: the same sums, rounded otherwise."""
    import tensorflow as tf

    own = model.train_step
    return lambda data: own(tf.nest.map_structure(lambda t: tf.reverse(t, [0]), data))


def start(folder: Path, label: str, devices: int, jobs: list[str], config: str | None) -> Any:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("TF_CONFIG", None)
    if config is not None:
        environment["TF_CONFIG"] = config
    out = folder / f"{label}.json"
    command = [
        sys.executable,
        __file__,
        "--child",
        str(out),
        "--devices",
        str(devices),
        "--jobs",
        ",".join(jobs),
    ]
    log = (folder / f"{label}.log").open("w")
    return subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT), out


def train(folder: Path, devices: int, workers: int, jobs: list[str], limit_s: float) -> list[dict[str, Any]]:
    """Train one way and return what each process found."""
    from steptime.launch.ports import free_addresses
    from steptime.plan.cluster import Place

    cluster = free_addresses(workers)
    started = [
        start(
            folder, f"{devices}-{workers}-{rank}", devices, jobs,
            Place(addresses=cluster, rank=rank).text() if workers > 1 else None,
        )
        for rank in range(workers)
    ]  # fmt: skip
    found = []
    try:
        for process, out in started:
            code = process.wait(timeout=limit_s)
            if code:
                raise SystemExit(
                    f"{out.stem} ended with {code}:\n{out.with_suffix('.log').read_text()[-3000:]}"
                )
            found.append({"jobs": json.loads(out.read_text()), "arrays": out.with_suffix(".npz")})
    finally:
        for process, _ in started:
            process.kill()
    return found


def compare(one: dict[str, Any], found: list[dict[str, Any]], jobs: list[Any]) -> list[dict[str, Any]]:
    """Compare every process with the training on one device and with each other."""
    import numpy as np

    rows = []
    with np.load(one["arrays"]) as expected, np.load(found[0]["arrays"]) as got:
        for job in jobs:
            names = [name for name in expected.files if name.split("/")[0] == job]
            weights = max(_difference(got[name], expected[name]) for name in names)
            rounding = max(
                (
                    _difference(expected[other], expected[name])
                    for name in names
                    if (other := name.replace(job, job + REVERSED)) in expected.files
                ),
                default=0.0,
            )
            mine = [each["jobs"][job] for each in found]
            history = _history_error(one["jobs"][job]["history"], mine[0]["history"])
            control = one["jobs"].get(job + REVERSED, one["jobs"][job])
            rounding = max(rounding, _history_error(one["jobs"][job]["history"], control["history"]))
            alike = len({each["hash"] for each in mine}) == 1 and all(
                each["history"] == mine[0]["history"] for each in mine
            )
            epochs = len(next(iter(mine[0]["history"].values())))
            rows.append(
                {"job": job, "weights": weights, "rounding": rounding, "history": history, "alike": alike,
                 "epochs": epochs, "loop": mine[0]["loop"]}
            )  # fmt: skip
    return rows


def _difference(got: Any, expected: Any) -> float:
    return float(abs(got.astype("f8") - expected.astype("f8")).max(initial=0.0))


def _history_error(expected: dict[str, list[float]], got: dict[str, list[float]]) -> float:
    if list(expected) != list(got) or any(len(expected[k]) != len(got[k]) for k in expected):
        return float("inf")
    return max((abs(a - b) for k in expected for a, b in zip(expected[k], got[k], strict=True)), default=0.0)


def text(row: dict[str, Any], *, good: bool) -> str:
    way = f"{row['devices']} devices x {row['workers']} workers"
    rounding = f" (rounding alone {row['rounding']:.1e})" if row["rounding"] else ""
    return (
        f"{'ok ' if good else 'NO '} {way}  {row['job']:36s} weights {row['weights']:.1e}{rounding}  "
        f"history {row['history']:.1e}  workers alike: {row['alike']}  {row['epochs']} epochs"
    )


def keep(rows: list[dict[str, Any]]) -> None:
    """Write the results; rows of the same job and way replace earlier ones, so that parts can be run one by one."""
    import machine

    earlier = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    by_key = {(row["devices"], row["workers"], row["job"]): row for row in (*earlier, *rows)}
    content = {"machine": machine.describe(), "tolerance": TOLERANCE, "rows": list(by_key.values())}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n")


def main() -> int:
    from distribution_jobs import JOBS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", default=",".join(job.name for job in JOBS))
    parser.add_argument("--ways", default="2x1,4x1,1x2,1x3", help="DEVICESxWORKERS, joined by commas")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one way")
    parser.add_argument("--no-results", action="store_true", help="print only")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--devices", type=int, default=1, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    jobs = asked.jobs.split(",")
    if asked.child is not None:
        child(asked.devices, jobs, asked.child)
        return 0
    like_one = {job.name: job.like_one for job in JOBS}
    all_good, results = True, []
    with tempfile.TemporaryDirectory() as name:
        (one,) = train(Path(name), 1, 1, jobs, asked.limit)
        for way in asked.ways.split(","):
            devices, workers = (int(number) for number in way.split("x"))
            found = train(Path(name), devices, workers, jobs, asked.limit)
            for row in compare(one, found, jobs):
                good = row["alike"] and (
                    not like_one[row["job"]]
                    or max(row["weights"], row["history"]) <= max(TOLERANCE, 2 * row["rounding"])
                )
                all_good &= good
                results.append({"devices": devices, "workers": workers, **row, "good": good})
                print(text(results[-1], good=good), flush=True)
            if not asked.no_results:
                keep(results)
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
