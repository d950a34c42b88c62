"""What sampling costs: processor time of one sample, and how much slower a busy program becomes.

Work with and without a sampler alternates in one process, so that drift of the machine hits both alike. Each pair
gives one ratio; the interval of the trimmed mean (Yuen) says how sure the result is. The second figure counts
processor time, which other programs on the machine disturb far less. With ``--training`` the work is a small
Keras training instead of a matrix product.

    python benchmarks/overhead.py [--pairs 30] [--seconds 1.0] [--interval 0.2] [--training]
"""

import argparse
import math
import os
import time
from contextlib import nullcontext

import numpy as np

from steptime.analysis.student import t_quantile
from steptime.device.cpu import Cpu
from steptime.device.find import find_gpus, open_gpu
from steptime.device.sampler import Sampler


def cost_of_samples(devices, interval_s):
    """Processor time per sample, taken at the real rate: caches are cold again after each wait."""
    for device in devices:
        costs_ns = []
        for _ in range(50):
            time.sleep(interval_s)
            start_ns = time.thread_time_ns()
            device.sample()
            costs_ns.append(time.thread_time_ns() - start_ns)
        mean_s = np.mean(costs_ns) / 1e9
        print(
            f"{device.name}: {mean_s * 1e3:.3f} ms of processor time a sample,"
            f" {mean_s / interval_s:.3%} of one core at {1 / interval_s:.0f} Hz"
        )


def matrix_work():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 160, 160))
    return lambda: a @ b


def training_work():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import keras

    model = keras.Sequential(
        [
            keras.Input((28, 28)),
            keras.layers.Flatten(),
            keras.layers.Dense(64, "relu"),
            keras.layers.Dense(10),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y = np.zeros((32, 28, 28), "float32"), np.zeros(32, "int32")
    return lambda: model.train_on_batch(x, y)


def steps_and_times(work, seconds):
    """Return steps, seconds and processor seconds of this process, its sampling thread included."""
    start_s, start_cpu_s = time.perf_counter(), time.process_time()
    steps = 0
    while (elapsed_s := time.perf_counter() - start_s) < seconds:
        work()
        steps += 1
    return steps, elapsed_s, time.process_time() - start_cpu_s


def slowdown(work, devices, options):
    """Return logarithms of the slow-down for each pair, in seconds and in processor seconds, shape (pairs, 2)."""
    steps_and_times(work, 2 * options.seconds)  # warm-up
    logs = []
    for pair in range(options.pairs):
        costs = {}
        for sampled in (True, False) if pair % 2 else (False, True):
            with Sampler(devices, options.interval) if sampled else nullcontext():
                steps, *times = steps_and_times(work, options.seconds)
            costs[sampled] = np.array(times) / steps
        logs.append(np.log(costs[True] / costs[False]))
    return np.array(logs)


def report(name, logs):
    # Pairs in which another program ran in one half only would drown the result.
    cut = len(logs) // 5
    kept = np.sort(logs)[cut : len(logs) - cut]
    pulled_in = np.clip(logs, kept[0], kept[-1])
    error = np.std(pulled_in, ddof=1) / (1 - 2 * cut / len(logs)) / math.sqrt(len(logs))
    reach = t_quantile(0.975, len(kept) - 1) * error
    print(f"{name}: {math.expm1(kept.mean()):+.2%} with sampling (95 % interval ±{reach:.2%})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--interval", type=float, default=0.2)
    parser.add_argument(
        "--training", action="store_true", help="train a small Keras model (needs TensorFlow)"
    )
    options = parser.parse_args()
    devices = [Cpu(), *(open_gpu(gpu) for gpu in find_gpus().usable)]
    cost_of_samples(devices, options.interval)
    work, name = (training_work(), "training") if options.training else (matrix_work(), "matrix product")
    logs = slowdown(work, devices, options)
    report(f"{name}, time per step", logs[:, 0])
    report(f"{name}, processor time per step", logs[:, 1])
    for device in devices:
        device.close()


if __name__ == "__main__":
    main()
