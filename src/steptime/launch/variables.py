"""The environment variables a worker starts with: everything TensorFlow reads when it is imported."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from steptime.plan.cluster import CLUSTER_VARIABLE, Place
from steptime.plan.plan import LAUNCHED_VARIABLE, Plan


def worker_variables(plan: Plan, inherited: Mapping[str, str], bytecode_cache: Path | None) -> dict[str, str]:
    """Return the whole environment of a worker.

    Args:
        plan: With its placement decided.
        inherited: The environment of this process.
        bytecode_cache: Where Python may keep bytecode when the installed packages cannot be written: importing
            TensorFlow without it costs about 16 s of CPU instead of 6 (measured on 2 cores). None to leave it.
    """
    variables = dict(inherited)
    if plan.placement is not None:
        variables["CUDA_VISIBLE_DEVICES"] = plan.placement.visible_devices
    variables["KERAS_BACKEND"] = "tensorflow"
    # The worker reads the same clock and so knows how long its start took.
    variables[LAUNCHED_VARIABLE] = str(time.perf_counter_ns())
    # An unbuffered log is whole when the process is killed.
    variables["PYTHONUNBUFFERED"] = "1"
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    if bytecode_cache is not None and "PYTHONPYCACHEPREFIX" not in inherited:
        variables["PYTHONPYCACHEPREFIX"] = str(bytecode_cache)
    return variables


def script_variables(plan: Plan, inherited: Mapping[str, str], bytecode_cache: Path | None) -> dict[str, str]:
    """Return the whole environment of a script: that of this process, since the script would have it with ``python``.

    Args:
        plan: With its placement decided. Only a device that was asked for by name hides others.
        inherited: The environment of this process.
        bytecode_cache: See ``worker_variables``.
    """
    variables = dict(inherited)
    if plan.placement is not None and plan.settings.device != "auto":
        variables["CUDA_VISIBLE_DEVICES"] = plan.placement.visible_devices
    variables[LAUNCHED_VARIABLE] = str(time.perf_counter_ns())
    if bytecode_cache is not None and "PYTHONPYCACHEPREFIX" not in inherited:
        variables["PYTHONPYCACHEPREFIX"] = str(bytecode_cache)
    return variables


def member_variables(variables: Mapping[str, str], cluster: Sequence[str], rank: int) -> dict[str, str]:
    """Return a worker's environment with what tells TensorFlow its place in a group.

    Args:
        variables: Those of `worker_variables`.
        cluster: "host:port" of every worker, in the order of their ranks.
        rank: Number of this worker, from 0.
    """
    return {**variables, CLUSTER_VARIABLE: Place(addresses=tuple(cluster), rank=rank).text()}
