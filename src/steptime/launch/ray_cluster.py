"""The Ray cluster of a run: the one that RAY_ADDRESS names, or one on this machine, and what workers get of it."""

import dataclasses
import functools
import logging
import math
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steptime.errors import UsageError
from steptime.launch.luggage import pack
from steptime.launch.placement import HIDE_EVERY_GPU
from steptime.plan.plan import Placement
from steptime.plan.workload import Workload

ADDRESS_VARIABLE = "RAY_ADDRESS"
# Where Ray's job server leaves what the job was submitted with.
JOB_VARIABLE = "RAY_JOB_CONFIG_JSON_ENV_VAR"
_INSTALL_HINT = "pip install 'steptime[ray]', here and on every node of the cluster."
# What TensorFlow and its libraries read holds on the workers, too. No other TF_ variable: Terraform's hold secrets.
_CARRIED = re.compile(
    r"(XLA|NCCL|KERAS)_\w+|TF_(CPP|CUDNN|DETERMINISTIC|DISABLE|ENABLE|FORCE|GPU|NUM|SET|USE|XLA)_?\w*"
)
_LOCAL_STORE_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What each worker gets.

    Attributes:
        cpus: Logical CPUs.
        gpus: GPUs; None for one where the device asks for it and the cluster has enough.
        spread: Whether workers are put on as many machines as possible, instead of as few.
    """

    cpus: float = 1.0
    gpus: float | None = None
    spread: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A Ray cluster this process is connected to.

    Attributes:
        is_local: Whether it was started by this process, on this machine.
        cpus: Logical CPUs in all.
        gpus: GPUs in all.
    """

    is_local: bool
    cpus: float
    gpus: float


@contextmanager
def connected(workload: Workload, workers: int, resources: Resources) -> Iterator[Cluster]:
    """Connect to the cluster that RAY_ADDRESS names, or start one on this machine; leave it at the end.

    Args:
        workload: Whose Python files the workers need.
        workers: How many there will be.
        resources: What each needs.

    Raises:
        UsageError: Ray is not installed, the address does not answer, or the cluster is too small.
    """
    address = os.environ.get(ADDRESS_VARIABLE, "").strip()
    if address.startswith("ray://"):
        raise UsageError(
            f"{ADDRESS_VARIABLE} must be the address of a node in the cluster. Received: {address!r}",
            hint="Give the command on a node of the cluster, or with `ray job submit -- steptime train ...`.",
        )
    needed = job_variables(os.environ) | (guard_variables() if not address else {})
    with _variables(needed), tempfile.TemporaryDirectory(prefix="steptime-") as luggage:
        try:
            import ray
        except ImportError:
            raise UsageError("--ray needs Ray. It is not installed here", hint=_INSTALL_HINT) from None
        pack(workload, Path(luggage), Path.cwd())
        # Ray reports its use to its makers unless it is told not to: that is the person's decision.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Its minute is too short for a machine that is busy, or that loads packages over a network.
        os.environ.setdefault("RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", "300")
        # Ray Train would change into a folder of its own; the workload's files are where the process starts.
        os.environ["RAY_CHDIR_TO_TRIAL_DIR"] = "0"
        variables = {key: value for key, value in os.environ.items() if _CARRIED.fullmatch(key)}
        _connect(ray, address, {"working_dir": luggage, "env_vars": variables}, workers * resources.cpus)
        try:
            total = ray.cluster_resources()
            cluster = Cluster(is_local=not address, cpus=total.get("CPU", 0.0), gpus=total.get("GPU", 0.0))
            _check_size(cluster, workers, resources)
            yield cluster
        finally:
            ray.shutdown()


def job_variables(given: Mapping[str, str]) -> dict[str, str]:
    """Variables that let a job of Ray's own job server bring the workload's files, as it has brought files itself.

    Both are called the working directory, and Ray refuses the second one unless it is told that it replaces the first.
    """
    return {"RAY_OVERRIDE_JOB_RUNTIME_ENV": "1"} if JOB_VARIABLE in given else {}


def guard_variables() -> dict[str, str]:
    """Variables that let nobody else into a Ray that is started for trying: it listens on every interface.

    Ray reads them once, when it is imported; where a program did that before, it is that program's decision.
    """
    if "ray" in sys.modules and not _token.cache_info().currsize:
        return {}
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": _token()}


@functools.cache
def _token() -> str:
    """One for this process: Ray keeps the first that it reads."""
    return secrets.token_hex(32)


@contextmanager
def _variables(needed: Mapping[str, str]) -> Iterator[None]:
    """Set variables inside; afterwards they are what they were."""
    former = {name: os.environ.get(name) for name in needed}
    os.environ.update(needed)
    try:
        yield
    finally:
        for name, value in former.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _connect(ray: Any, address: str, runtime_env: dict[str, Any], cpus: float) -> None:
    own: dict[str, Any] = {}
    if not address:
        # For trying: the workers share the processors there are.
        os.environ.setdefault("RAY_TRAIN_ENABLE_PREEMPTION_WATCHER", "0")  # one process less to start
        own = {"num_cpus": max(os.cpu_count() or 1, math.ceil(cpus)), "include_dashboard": False}
        own |= {"object_store_memory": _LOCAL_STORE_BYTES}
    try:
        ray.init(
            address=address or "local",
            runtime_env=runtime_env,
            log_to_driver=False,
            logging_level=logging.ERROR,
            **own,
        )
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        words = " ".join(str(error).split())[:200]
        if address:
            raise UsageError(
                f"{ADDRESS_VARIABLE} must name a cluster that answers. Received: {address!r} ({words})",
                hint="`ray status` on the same machine shows whether it is up; unset the variable to try it here.",
            ) from None
        raise UsageError(
            f"A Ray must start on this machine. Received: {words}",
            hint="Its logs are in /tmp/ray/session_latest/logs; a machine that is too busy is a frequent reason.",
        ) from None


def choose_gpus(
    cluster: Cluster, asked: str, devices: str, workers: int, resources: Resources
) -> tuple[Resources, Placement]:
    """Decide whether workers get GPUs, and say why.

    Args:
        cluster: What there is.
        asked: The setting ``device``.
        devices: The setting ``devices``: how many train together in one worker.
        workers: Number of workers.
        resources: What was asked for.

    Raises:
        UsageError: What was asked for does not fit together, or there are too few GPUs.
    """
    if ":" in asked or devices == "all":
        raise UsageError(
            f"On Ray the cluster chooses the devices. Received: --device {asked}, --devices {devices}",
            hint="Say --device gpu and --gpus-per-worker N.",
        )
    each = int(devices)
    wants = resources.gpus
    if wants is None:
        is_gpu = asked == "gpu" or (asked == "auto" and cluster.gpus >= workers * each)
        wants = float(each) if is_gpu else 0.0
    if wants and asked == "cpu":
        raise UsageError("Workers on CPUs get no GPU. Received: --device cpu and GPUs", hint="Leave one out.")
    if cluster.gpus < workers * wants:
        raise UsageError(
            f"{workers} workers with {wants:g} GPUs each need {workers * wants:g}. The cluster has {cluster.gpus:g}",
            hint="Take fewer workers, or --device cpu.",
        )
    decided = dataclasses.replace(resources, gpus=wants)
    if not wants:
        why = "as asked" if asked == "cpu" else f"the cluster has {cluster.gpus:g} GPUs for {workers} workers"
        return decided, Placement(device="cpu", reason=why, visible_devices=HIDE_EVERY_GPU, devices=each)
    # Which ones is Ray's choice on each node, where the variable is set.
    shown = ",".join(str(index) for index in range(int(wants)))
    placement = Placement(device="gpu:0", reason="given by Ray", visible_devices=shown, devices=int(wants))
    return decided, placement


def _check_size(cluster: Cluster, workers: int, resources: Resources) -> None:
    if cluster.cpus < workers * resources.cpus:
        raise UsageError(
            f"{workers} workers with {resources.cpus:g} CPUs each need {workers * resources.cpus:g}."
            f" The cluster has {cluster.cpus:g}",
            hint="Take fewer workers, or fewer CPUs for each: --cpus-per-worker N.",
        )
