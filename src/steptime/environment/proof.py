"""Proves that a device calculates: matrix product, convolution with gradient, compiled step; compared with the CPU.

Being listed proves only that the driver answered (see RTX 50 cards with TensorFlow 2.16 to 2.20). Runs inside the child
process of ``ask_tensorflow``; this is why TensorFlow is imported inside the functions.
"""

import time
from collections.abc import Callable
from typing import Any

SIZE = 4096
"""Rows and columns of the timed matrix product: 0.14 TFLOP, enough to fill any GPU."""
_REPEATS = 20


def run_proof(device: str, *, size: int = SIZE, reference: str = "/CPU:0") -> dict[str, object]:
    """Calculate on a device with hard placement and compare with another one.

    Args:
        device: Device to prove.
        size: Rows and columns of the timed float32 matrix product.
        reference: Device whose results count as right.

    Returns:
        ``proof`` ("ok", or which part failed and how) and ``proof_matmul_tflops`` (``None`` when not measured).
    """
    import tensorflow as tf

    tf.config.set_soft_device_placement(False)
    tf.config.experimental.enable_tensor_float_32_execution(
        False
    )  # the data sheet's fp32 figure is without TF32
    facts: dict[str, object] = {"proof": "ok", "proof_matmul_tflops": None}
    parts: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("matrix product", _product), ("convolution with gradient", _convolution), ("compiled step", _compiled),
    )  # fmt: skip
    for name, part in parts:
        fault = _compare(tf, part, device, reference)
        if fault:
            return facts | {"proof": f"{name}: {fault}"}
    facts["proof_matmul_tflops"] = _rate_tflops(tf, device, size)
    return facts


def _compare(tf: Any, part: Callable[[Any], Any], device: str, reference: str) -> str | None:
    """Return how the two devices differ, or ``None`` when they agree within float32's rounding."""
    import numpy as np

    try:
        with tf.device(device):
            result = part(tf)
            there = result.numpy()
    except Exception as error:  # noqa: BLE001 - whatever TensorFlow raises here is the finding
        return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    if device.lstrip("/").split(":")[0].upper() not in result.device.upper():
        return f"ran on {result.device}"
    with tf.device(reference):
        here = part(tf).numpy()
    wrong = float(np.max(np.abs(there - here)) / max(1e-6, float(np.max(np.abs(here)))))
    return f"differs from the CPU by {wrong:.2g} of the largest value" if not wrong < 1e-3 else None


def _values(tf: Any, *shape: int) -> Any:
    """Deterministic values between -1 and 1, made on the CPU so that both devices get the same."""
    count = 1
    for extent in shape:
        count *= extent
    with tf.device("/CPU:0"):
        return tf.reshape(tf.sin(tf.range(count, dtype=tf.float32)), shape)


def _product(tf: Any) -> Any:
    return tf.linalg.matmul(tf.identity(_values(tf, 256, 256)), tf.identity(_values(tf, 256, 256)))


def _convolution(tf: Any) -> Any:
    images, kernel = tf.identity(_values(tf, 4, 16, 16, 3)), tf.identity(_values(tf, 3, 3, 3, 8))
    with tf.GradientTape() as tape:
        tape.watch(kernel)
        loss = tf.reduce_sum(tf.nn.relu(tf.nn.conv2d(images, kernel, 1, "SAME")) ** 2)
    return tape.gradient(loss, kernel)


def _compiled(tf: Any) -> Any:
    step = tf.function(lambda w, x: w - 0.1 * tf.exp(-tf.nn.relu(x)) * w, jit_compile=True)
    return step(tf.identity(_values(tf, 64, 64)), tf.identity(_values(tf, 64, 64)))


def _rate_tflops(tf: Any, device: str, size: int) -> float:
    """Best of three rates: 2 n^3 floating-point operations for each product; the copy of one number waits for all."""
    with tf.device(device):
        matrix = tf.random.stateless_uniform((size, size), seed=(1, 2)) / size
        best_s = float("inf")
        for _ in range(3):
            started = time.perf_counter_ns()
            product = matrix
            for _ in range(_REPEATS):
                product = tf.linalg.matmul(product, matrix)
            float(tf.reduce_sum(product[0, :1]).numpy())
            best_s = min(best_s, (time.perf_counter_ns() - started) / 1e9)
    return round(2 * size**3 * _REPEATS / best_s / 1e12, 2)
