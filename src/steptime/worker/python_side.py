"""Where the host's Python time of a step goes: Keras' parts, TensorFlow's, the person's own code."""

import cProfile
import pstats
import sysconfig
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.record.profile import PythonCost

if TYPE_CHECKING:
    from steptime.engine.timing.arms import Arm

_LONGEST_S = 0.5
_MOST_STEPS = 50
# Part of a path -> what a reader calls it. The first one that fits counts.
_PARTS = (
    ("keras/src/utils/python_utils", "Keras: reading the logs"),
    ("keras/src/callbacks", "Keras: callbacks"),
    ("keras/src/optimizers", "Keras: optimizer"),
    ("keras/src/metrics", "Keras: metrics"),
    ("keras/src/losses", "Keras: loss"),
    ("keras/src/layers", "Keras: layers"),
    ("keras/src/trainers", "Keras: trainer"),
    ("keras/src/backend/tensorflow/trainer", "Keras: trainer"),
    ("keras/", "Keras: the rest"),
    ("tensorflow/python/data", "TensorFlow: data"),
    ("tensorflow/", "TensorFlow: calling functions"),
    ("numpy/", "NumPy"),
    ("steptime/", "steptime"),
)
_EXECUTING = ("TFE_Py_Execute", "TFE_Py_FastPathExecute", "TFE_Py_ExecuteCancelable")
_WAITING = ("_numpy_internal", "_numpy", "numpy")
_LEAST_SHARE = 0.002


def python_costs(arm: "Arm", step_s: float) -> tuple[PythonCost, ...]:
    """Return the parts of a step on the host, the longest first.

    Python's profiler makes calls slower; each part's share of the profiled time is therefore applied to the
    unprofiled step.

    Args:
        arm: A way of executing steps that has run before.
        step_s: What a step of it takes without Python's profiler.
    """
    steps = max(2, min(_MOST_STEPS, int(_LONGEST_S / max(step_s, 1e-6))))
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        done = arm.run(steps)
    finally:
        profiler.disable()
    if not done:
        return ()
    seconds: dict[str, float] = defaultdict(float)
    calls: dict[str, int] = defaultdict(int)
    for (path, _, name), (_, count, own_s, *_) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        part = part_of(path, name)
        seconds[part] += own_s
        calls[part] += count
    total_s = sum(seconds.values()) or 1.0
    costs = (
        PythonCost(part=part, step_s=own_s / total_s * step_s, calls=calls[part] / done)
        for part, own_s in seconds.items()
        if own_s / total_s >= _LEAST_SHARE
    )
    return tuple(sorted(costs, key=lambda cost: -cost.step_s))


def part_of(path: str, name: str) -> str:
    """Return what a function belongs to.

    Args:
        path: Its file as Python's profiler names it; ``~`` for a built-in one.
        name: Its name.
    """
    if path.startswith(("~", "<")):
        if any(word in name for word in _EXECUTING):
            return "TensorFlow: executing operations"
        if any(f".{word}" in name or f"'{word}'" in name for word in _WAITING):
            return "waiting for the device"
        return "Python: built-in functions"
    unified = Path(path).as_posix()
    own = "Python: standard library" if _is_standard(unified) else "the job's own code"
    return next((part for piece, part in _PARTS if f"/{piece}" in unified), own)


def _is_standard(path: str) -> bool:
    return path.startswith(Path(sysconfig.get_path("stdlib")).as_posix()) and "/site-packages/" not in path
