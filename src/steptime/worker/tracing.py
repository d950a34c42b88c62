"""Traces a few steady steps by TensorFlow's profiler, and times the same steps without it, in turns."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tensorflow as tf

from steptime.engine.timing.arms import Arm, timed
from steptime.worker.planes import STEP_EVENT, Trace, read_trace

# TensorBoard's profile plugin needs no more, and traces of many steps are hundreds of megabytes.
_PIECES = 3
_LONGEST_PIECE_S = 0.2
_MOST_STEPS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A trace of a few steps.

    Attributes:
        trace: What it holds.
        steps: Steps in it.
        profiled_s: Seconds a step while the profiler ran.
        unprofiled_s: Seconds a step of the same pieces, right before and after.
        size_bytes: Size of the file.
    """

    trace: Trace
    steps: int
    profiled_s: float
    unprofiled_s: float
    size_bytes: int


def trace_steps(arm: Arm, step_s: float, folder: Path) -> Traced:
    """Trace pieces of steps of an execution that has run before.

    Args:
        arm: The execution.
        step_s: About what a step of it takes.
        folder: TensorBoard folder that receives the whole trace.

    Raises:
        RuntimeError: The profiler could not be started, or its file cannot be found.
    """
    piece = max(1, min(_MOST_STEPS, int(_LONGEST_PIECE_S / max(step_s, 1e-6))))
    plain = [timed(arm, piece) for _ in range(_PIECES)]
    tf.profiler.experimental.start(str(folder))
    try:
        traced = [_marked(arm, piece, number) for number in range(_PIECES)]
    finally:
        tf.profiler.experimental.stop()
    plain += [timed(arm, piece) for _ in range(_PIECES)]
    file = newest_trace(folder)
    if file is None:
        raise RuntimeError("TensorFlow's profiler left no file")
    steps = sum(done for _, done in traced)
    if not steps:
        raise RuntimeError("the data ended before a step was traced")
    return Traced(
        trace=read_trace(parse(file)),
        steps=steps,
        profiled_s=_least_s(traced),
        unprofiled_s=_least_s(plain),
        size_bytes=file.stat().st_size,
    )


def newest_trace(folder: Path) -> Path | None:
    """Return the newest trace below a TensorBoard folder; None when there is none."""
    files = sorted(folder.glob("plugins/profile/*/*.xplane.pb"), key=lambda path: path.stat().st_mtime_ns)
    return files[-1] if files else None


def parse(file: Path) -> Any:
    """Return the XSpace in a file."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    space = xplane_pb2.XSpace()
    space.ParseFromString(file.read_bytes())
    return space


def _marked(arm: Arm, steps: int, number: int) -> tuple[float, int]:
    # Keras marks no steps, and then viewers find none; _r=1 makes it a step for them.
    with tf.profiler.experimental.Trace(STEP_EVENT, step_num=number, _r=1):
        return timed(arm, steps)


def _least_s(pieces: list[tuple[float, int]]) -> float:
    """Seconds a step of the fastest piece: other processes only ever add time, to so few pieces unevenly."""
    return min((seconds / steps for seconds, steps in pieces if steps), default=0.0)
