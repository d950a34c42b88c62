"""Lost workers, and what the loop costs: `python scale_out.py kill|stop|overhead`.

kill      ends one of three workers by SIGKILL at random instants and compares the weights with an undisturbed run's.
stop      stops one of three workers by SIGSTOP and measures how long until that is noticed.
overhead  times steptime.fit under MirroredStrategy against the loop of TensorFlow's guide on custom training with
          tf.distribute and against Keras' own fit, on the same work, in turns, in one process.

Each part writes its section of results/scale_out.json; trials are added to those that are there.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

import machine

RESULTS = Path(__file__).parent / "results" / "scale_out.json"
JOB = Path(__file__).parent / "scale_out_job.py"
WORKERS = 3


def start(runs: Path, *more: str) -> "subprocess.Popen[str]":
    command = [
        sys.executable,
        "-m",
        "steptime",
        "train",
        str(JOB),
        "--device",
        "cpu",
        "--workers",
        str(WORKERS),
    ]
    return subprocess.Popen(
        [*command, "--local", "--batch-size", "48", "--epochs", "25", "--set", "checkpoint_every=1epoch",
         "--runs", str(runs), "--json", *more],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip


def weights_hash(runs: Path) -> str:
    """Of the arrays only: the file around them holds the time."""
    import h5py

    (model,) = runs.glob("train/*/model.keras")
    digest = hashlib.sha256()
    with (
        zipfile.ZipFile(model) as archive,
        archive.open("model.weights.h5") as content,
        h5py.File(content) as file,
    ):

        def add(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset) and "optimizer" not in name:
                digest.update(name.encode() + item[()].tobytes())

        file.visititems(add)
    return digest.hexdigest()


def workers_of(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(process.pid).children()
        if any("steptime.worker" in word for word in child.cmdline())
    ]


def wait_for_workers(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    while process.poll() is None:
        found = workers_of(process)
        if len(found) == WORKERS:
            return found
        time.sleep(0.05)
    raise SystemExit(f"the run ended at once:\n{process.communicate()[1]}")


def undisturbed() -> tuple[str, float]:
    with tempfile.TemporaryDirectory() as name:
        begin_s = time.perf_counter()
        process = start(Path(name))
        _, err = process.communicate()
        if process.returncode:
            raise SystemExit(f"the undisturbed run failed:\n{err}")
        return weights_hash(Path(name)), time.perf_counter() - begin_s


def kill(trials: int, seed: int) -> dict[str, Any]:
    expected, whole_s = undisturbed()
    chance = random.Random(seed)
    rows = []
    for trial in range(trials):
        with tempfile.TemporaryDirectory() as name:
            process = start(Path(name), "--retries", "2")
            victims = wait_for_workers(process)
            delay_s = chance.uniform(0.0, 0.95 * whole_s)
            time.sleep(delay_s)
            rank = chance.randrange(WORKERS)
            was_alive = victims[rank].is_running() and process.poll() is None
            if was_alive:
                victims[rank].send_signal(signal.SIGKILL)
            _, err = process.communicate()
            notes = [line for line in err.splitlines() if "SIGKILL" in line]
            equal = process.returncode == 0 and weights_hash(Path(name)) == expected
            rows.append({"rank": rank, "after_s": round(delay_s, 2), "was_alive": was_alive, "equal": equal})
            print(trial, rows[-1], notes[:1], "" if equal else err[-1500:], flush=True)
    return {
        "undisturbed_s": round(whole_s, 1),
        "trials": rows,
        "all_equal": all(row["equal"] for row in rows),
    }


def stop(trials: int, seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    rows = []
    for _ in range(trials):
        with tempfile.TemporaryDirectory() as name:
            process = start(Path(name), "--set", "epochs=400")
            victims = wait_for_workers(process)
            time.sleep(chance.uniform(12.0, 20.0))
            rank = chance.randrange(WORKERS)
            victims[rank].send_signal(signal.SIGSTOP)
            begin_s = time.perf_counter()
            _, err = process.communicate()
            said = [line for line in err.splitlines() if line.startswith("error:")]
            rows.append(
                {"rank": rank, "noticed_s": round(time.perf_counter() - begin_s, 1), "said": said[-1:]}
            )
            print(rows[-1], flush=True)
    return {"limit_s": 15.0, "trials": rows}


def overhead(rounds: int, names: list[str]) -> dict[str, Any]:
    """Times of whole epochs, in turns; the first of each, which traces and compiles, is left out."""
    import keras
    import numpy as np
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    found = {}
    models = {"mlp": (_mlp, (64,), 19200), "cnn": (_cnn, (14, 14, 1), 3840)}
    for name in names:
        build, shape, samples = models[name]
        rng = np.random.default_rng(0)
        x = rng.normal(size=(samples, *shape)).astype("float32")
        y = rng.integers(0, 10, samples).astype("int32")
        ways = {"steptime": _steptime, "guide": _guide, "keras": _keras}
        epochs = {way: make(strategy, build, x, y) for way, make in ways.items()}
        for epoch in epochs.values():
            epoch()
            epoch()
        times: dict[str, list[float]] = {way: [] for way in ways}
        for turn in range(rounds):
            order = list(ways) if turn % 2 == 0 else list(ways)[::-1]
            for way in order:
                begin_s = time.perf_counter()
                epochs[way]()
                times[way].append(time.perf_counter() - begin_s)
        steps = samples // 64
        row: dict[str, Any] = {way: statistics.median(values) / steps * 1e3 for way, values in times.items()}
        for other in ("guide", "keras"):
            ratios = sorted(a / b for a, b in zip(times["steptime"], times[other], strict=True))
            row[f"over_{other}"] = {"median": statistics.median(ratios), "all": [round(r, 3) for r in ratios]}
        found[name] = row
        print(name, row, flush=True)
        keras.backend.clear_session()
    return {"rounds": rounds, "unit": "ms a step of 64 samples on two logical CPU devices", "models": found}


def _mlp() -> Any:
    import keras

    layers = keras.layers
    return keras.Sequential(
        [keras.Input((64,)), layers.Dense(128, "relu"), layers.Dense(128, "relu"), layers.Dense(10)]
    )


def _cnn() -> Any:
    import keras

    layers = keras.layers
    return keras.Sequential([
        keras.Input((14, 14, 1)), layers.Conv2D(32, 3, activation="relu"), layers.Conv2D(32, 3, activation="relu"),
        layers.Flatten(), layers.Dense(10),
    ])  # fmt: skip


def _compiled(strategy: Any, build: Callable[[], Any]) -> Any:
    import keras

    with strategy.scope():
        model = build()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, metrics=["accuracy"])
    return model


def _dataset(x: Any, y: Any) -> Any:
    import tensorflow as tf

    return (
        tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(64, drop_remainder=True).prefetch(2)
    )


def _steptime(strategy: Any, build: Any, x: Any, y: Any) -> Callable[[], Any]:
    import steptime

    model = _compiled(strategy, build)
    return lambda: steptime.fit(model, x, y, batch_size=64, epochs=1, verbose=0)


def _keras(strategy: Any, build: Any, x: Any, y: Any) -> Callable[[], Any]:
    import keras

    model = _compiled(strategy, build)
    return lambda: keras.Model.fit(model, x, y, batch_size=64, epochs=1, verbose=0)


def _guide(strategy: Any, build: Any, x: Any, y: Any) -> Callable[[], Any]:
    """As in TensorFlow's guide "Custom training with tf.distribute.Strategy"."""
    import keras
    import tensorflow as tf

    data = strategy.experimental_distribute_dataset(_dataset(x, y))
    with strategy.scope():
        model = build()
        optimizer = keras.optimizers.Adam()
        loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
        accuracy = keras.metrics.SparseCategoricalAccuracy()
        optimizer.build(model.trainable_variables)

    def train_step(inputs: Any) -> Any:
        images, labels = inputs
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = tf.nn.compute_average_loss(loss_of(labels, predictions), global_batch_size=64)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy.update_state(labels, predictions)
        return loss

    @tf.function
    def distributed_train_step(inputs: Any) -> Any:
        losses = strategy.run(train_step, args=(inputs,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    def epoch() -> float:
        total, batches = 0.0, 0
        for inputs in data:
            total += distributed_train_step(inputs)
            batches += 1
        result = float(total) / batches
        float(accuracy.result())
        accuracy.reset_state()
        return result

    return epoch


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=["kill", "stop", "overhead"])
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--models", default="mlp,cnn", help="of the part overhead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-results", action="store_true", help="print only")
    asked = parser.parse_args()
    about = machine.describe()
    if asked.part == "overhead":
        found = overhead(asked.rounds, asked.models.split(","))
    else:
        found = {"kill": kill, "stop": stop}[asked.part](asked.trials, asked.seed)
    if not asked.no_results:
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        earlier = results.get(asked.part, {}).get("trials", [])
        if "trials" in found:
            found["trials"] = [*earlier, *found["trials"]]
        if "models" in found:
            found["models"] = results.get(asked.part, {}).get("models", {}) | found["models"]
        results[asked.part] = {"machine": about, **found}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
