"""``python -m steptime.engine.ceilings DEVICE``: measures what a device can do at best, by TensorFlow's operations.

Prints one JSON object. It runs in a process of its own, so that no training shares the device with it.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

# The best of these repetitions counts: a ceiling is what the machine can do when nothing else disturbs it.
_REPEATS = 5
# A measurement shorter than this is mostly overhead.
_LEAST_S = 0.05
# A product that takes longer than this is large enough.
_LONG_S = 0.1
_LARGEST_MATRIX = {"CPU": 2048, "GPU": 8192}
_COPY_BYTES = {"CPU": 128 << 20, "GPU": 1 << 30}
_CHAIN = 256


def main(device: str) -> dict[str, Any]:
    """Measures everything on a device, such as CPU:0 or GPU:0."""
    kind = device.partition(":")[0]
    unavailable: dict[str, str] = {}
    flops: dict[str, float] = {}
    with tf.device(f"/{device}"):
        for name in ("float32", "tf32", "bfloat16", "float16", "float64"):
            if name == "tf32" and kind == "CPU":
                continue
            attempt = _attempt(f"flops_per_s.{name}", unavailable, partial(_matmul, name, kind))
            if attempt is not None:
                flops[name] = attempt
        memory = _attempt("memory_bytes_per_s", unavailable, lambda: _copy(kind))
        launch = _attempt("launch_s", unavailable, _launch)
        host_to_device = None
        if kind == "CPU":
            unavailable["host_to_device_bytes_per_s"] = "the device is the host itself"
        else:
            host_to_device = _attempt(
                "host_to_device_bytes_per_s", unavailable, lambda: _host_to_device(device)
            )
    return {
        "flops_per_s": flops,
        "memory_bytes_per_s": memory,
        "host_to_device_bytes_per_s": host_to_device,
        "launch_s": launch,
        "unavailable": unavailable,
    }


def _attempt(field: str, unavailable: dict[str, str], measure: Callable[[], float]) -> float | None:
    try:
        return measure()
    except (tf.errors.OpError, ValueError, RuntimeError, TypeError) as error:
        unavailable[field] = " ".join(str(error).split())[:200]
        return None


def _matmul(name: str, kind: str) -> float:
    """FLOP/s of the product of two large square matrices."""
    tf.config.experimental.enable_tensor_float_32_execution(name == "tf32")
    dtype = tf.float32 if name == "tf32" else tf.dtypes.as_dtype(name)
    size = 512
    best = 0.0
    while size <= _LARGEST_MATRIX[kind]:
        a = tf.cast(tf.random.stateless_uniform((size, size), (1, 2)), dtype)
        seconds = _best_s(tf.function(lambda a: tf.matmul(a, a)), a)
        best = max(best, 2 * size**3 / seconds)
        if seconds > _LONG_S:
            break
        size *= 2
    return best


def _copy(kind: str) -> float:
    """Bytes read and written a second by an addition in place, which takes no new memory from the system."""
    count = _COPY_BYTES[kind] // 4
    variable, x = tf.Variable(tf.zeros(count)), tf.ones(count)

    def add(x: tf.Tensor) -> tf.Tensor:
        variable.assign_add(x)
        return variable[:1]

    return 3 * 4 * count / _best_s(tf.function(add), x)


def _host_to_device(device: str) -> float:
    host = np.zeros(64 << 20, np.uint8)

    def send(_: tf.Tensor) -> tf.Tensor:
        with tf.device(f"/{device}"):
            return tf.identity(tf.convert_to_tensor(host))

    return host.nbytes / _best_s(send, tf.zeros(()))


def _launch() -> float:
    """Seconds to start one small operation of a graph: a chain of them, none of which can be left out."""

    def chain(x: tf.Tensor) -> tf.Tensor:
        for _ in range(_CHAIN):
            x = tf.tanh(x)
        return x

    function = tf.function(chain)
    return _best_s(function, tf.zeros((8,))) / _CHAIN


def _best_s(function: Any, argument: tf.Tensor) -> float:
    """Seconds of one call: the shortest of several times, each over enough calls."""
    _wait(function(argument))
    calls, best = 1, float("inf")
    repeats = 0
    while repeats < _REPEATS:
        start_ns = time.perf_counter_ns()
        for _ in range(calls):
            result = function(argument)
        _wait(result)
        seconds = (time.perf_counter_ns() - start_ns) / 1e9
        best = min(best, seconds / calls)
        if seconds < _LEAST_S and calls < 4096:
            calls *= 4
            continue
        repeats += 1
    return best


def _wait(tensor: tf.Tensor) -> None:
    """Waits for the device: one element must reach the host."""
    tf.reshape(tensor, [-1])[:1].numpy()


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(main(sys.argv[1])) + "\n")
