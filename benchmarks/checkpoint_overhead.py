"""What checkpoints cost: the built-in job with the default ones against none, in turns in one process.

python benchmarks/checkpoint_overhead.py            # whole epochs, about a minute a pair
python benchmarks/checkpoint_overhead.py --samples 3200 --pairs 60

Each fit is one epoch and takes one checkpoint at its end. What a checkpoint costs does not depend on the number of
samples, so that many short epochs show it, where the noise of long ones hides it; the share is that of a whole epoch.
"""

import argparse
import math
import os
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from steptime.analysis.student import t_quantile

WHOLE = 60_000  # samples of an epoch of the built-in job

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")


def made(samples):
    import keras

    from steptime.workloads import mnist_cnn

    (x, y), _ = mnist_cnn.load_data()
    model = mnist_cnn.create_model()
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model, x[:samples], y[:samples]


def epoch(model, x, y, folder):
    """Return seconds of the wall, processor seconds, and what the checkpoints cost by their own account."""
    import steptime

    start_s, start_cpu_s = time.perf_counter(), time.process_time()
    history = steptime.fit(model, x, y, batch_size=32, verbose=0, loop="graph", seed=0, checkpoint=folder)
    return time.perf_counter() - start_s, time.process_time() - start_cpu_s, history.steptime.checkpoints


def trimmed(values):
    """Return the mean of the middle three fifths, and its 95 % interval (Yuen)."""
    cut = len(values) // 5
    kept = np.sort(values)[cut : len(values) - cut]
    spread = np.std(np.clip(values, kept[0], kept[-1]), ddof=1)
    reach = t_quantile(0.975, len(kept) - 1) * spread / (1 - 2 * cut / len(values)) / math.sqrt(len(values))
    return kept.mean(), kept.mean() - reach, kept.mean() + reach


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--samples", type=int, default=60_000, help="samples of an epoch")
    options = parser.parse_args()
    model, x, y = made(options.samples)
    epoch(model, x[:64], y[:64], None)
    parent = Path(tempfile.mkdtemp())
    logs, costs, pairs_s = [], [], []
    for pair in range(options.pairs):
        times = {}
        for kept in (True, False) if pair % 2 else (False, True):
            *times[kept], cost = epoch(model, x, y, parent / str(pair) if kept else None)
            costs += [cost] if kept else []
        pairs_s.append((times[True][0], times[False][0]))
        logs.append(np.log(np.array(times[True]) / np.array(times[False])))
        print(f"pair {pair + 1}: {times[False][0]:.2f} s without, {times[True][0]:.2f} s with", flush=True)
    shutil.rmtree(parent)
    for name, values in zip(("time", "processor time"), np.array(logs).T, strict=True):
        reach = t_quantile(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
        print(f"{name}: {math.expm1(np.mean(values)):+.2%} with checkpoints (95 % interval ±{reach:.2%})")
    without_s, differences_s = np.array(pairs_s)[:, 1], np.diff(np.array(pairs_s))[:, 0] * -1
    cost_s, low_s, high_s = trimmed(differences_s)
    epoch_s = np.median(without_s) * WHOLE / options.samples
    print(
        f"one checkpoint: {cost_s * 1e3:.0f} ms (95 % interval {low_s * 1e3:.0f} to {high_s * 1e3:.0f} ms), "
        f"{cost_s / epoch_s:.2%} ({low_s / epoch_s:.2%} to {high_s / epoch_s:.2%}) of an epoch of {WHOLE:,} samples"
    )
    written, stall_s, write_s = (
        sum(getattr(cost, name) for cost in costs) for name in ("written", "stall_s", "write_s")
    )
    print(
        f"a checkpoint of {costs[-1].bytes / 2**20:.2f} MiB: training stands still for "
        f"{stall_s / written * 1e3:.1f} ms, and it is written beside it in {write_s / written * 1e3:.1f} ms"
    )


if __name__ == "__main__":
    main()
