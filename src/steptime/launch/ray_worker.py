"""What runs on a Ray cluster: each worker starts steptime's own worker process on its node and reports to a desk.

Ray's TensorFlow trainer is not used: it sets TF_USE_LEGACY_KERAS, and importing it imports TensorFlow in three
processes that do not need it. What it does beside that, TF_CONFIG, is here. Training in a process of its own is as
everywhere else in steptime: devices and flags are set before TensorFlow is imported.
"""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
import ray.train
import ray.util
from ray.train.backend import Backend, BackendConfig

import steptime
from steptime.launch.luggage import unpacked
from steptime.launch.mirror import ChangedFiles, Files, write_copies
from steptime.launch.placement import HIDE_EVERY_GPU
from steptime.launch.ports import free_port
from steptime.launch.process import bytecode_cache
from steptime.launch.variables import worker_variables
from steptime.plan.cluster import CLUSTER_VARIABLE, Place
from steptime.plan.codec import to_json
from steptime.plan.plan import Plan
from steptime.record.files import write_json
from steptime.record.store import LOG_FILE, PLAN_FILE, member_folder

_POLL_S = 0.2
# Exit code of a worker that could not start its process, as for wrong use.
_REFUSED = 2
# The child must not outlive this process, which Ray may kill: prctl(2), PR_SET_PDEATHSIG. And Ray blocks SIGINT in all
# its processes, which children inherit; it is the request to stop.
_FOLLOWER = (
    "import ctypes, os, signal, sys\n"
    "if hasattr(signal, 'pthread_sigmask'): signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])\n"
    "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
    "if sys.platform == 'linux': ctypes.CDLL(None).prctl(1, 9)\n"
    "if os.getppid() != int(sys.argv[1]): sys.exit(1)\n"
    "os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a worker is told.

    Attributes:
        plan: What is trained.
        created: When that was planned.
        folders: Run folder of each rank, as the person's machine knows it.
        token: Name of a file in the first of them: who sees it sees the same disk.
        desk: The actor that it reports to.
        version: Version of steptime on the person's machine.
        worker: What Python is given, before the run folder.
        before: What earlier attempts left in the run folder, as a reference of Ray, for workers that do not see it;
            None for nothing.
    """

    plan: Plan
    created: str
    folders: tuple[str, ...]
    token: str
    desk: Any
    version: str
    worker: tuple[str, ...]
    before: Any


class Desk:
    """An actor between the person's process and the workers: what they have to tell, and what they shall do."""

    def __init__(self) -> None:
        self._news: list[tuple[int, dict[str, Any]]] = []
        self._taken = 0
        self._orders: dict[int, str] = {}

    def report(self, rank: int, news: dict[str, Any]) -> str | None:
        """Take what a worker tells and return what it shall do: ``stop``, ``kill`` or nothing."""
        if news:
            self._news.append((rank, news))
        return self._orders.get(rank)

    def order(self, rank: int, word: str) -> None:
        """Tell a worker what to do when it reports next."""
        self._orders[rank] = word

    def take(self, acknowledged: int) -> list[tuple[int, dict[str, Any]]]:
        """Return what was told after the first ``acknowledged`` news, which are forgotten.

        All others are kept until they are acknowledged: an answer that comes too late is lost on its way.
        """
        self._news = self._news[acknowledged - self._taken :]
        self._taken = acknowledged
        return list(self._news)


class ClusterBackend(Backend):  # type: ignore[misc]  # Ray has no types
    """Tells every worker who the others are, as TensorFlow reads it: TF_CONFIG."""

    def on_start(self, worker_group: Any, backend_config: BackendConfig) -> None:  # noqa: ARG002 - Ray's signature
        """Ask each worker for an address, and give all of them to each."""
        addresses: list[str] = []
        while len(set(addresses)) < len(
            worker_group
        ):  # two workers of one machine may hit upon the same port
            addresses = worker_group.execute(free_address)
        ray.get(
            [
                worker_group.execute_single_async(rank, set_tf_config, addresses, rank)
                for rank in range(len(addresses))
            ]
        )


class ClusterConfig(BackendConfig):  # type: ignore[misc]
    """Chooses ``ClusterBackend``."""

    @property
    def backend_cls(self) -> type[Backend]:
        """The backend."""
        return ClusterBackend


def free_address() -> str:
    """Return a host and port of this machine at which nobody listens."""
    return f"{ray.util.get_node_ip_address()}:{free_port()}"


def set_tf_config(addresses: list[str], rank: int) -> None:
    """Set TF_CONFIG in this process, whose child inherits it."""
    os.environ[CLUSTER_VARIABLE] = Place(addresses=tuple(addresses), rank=rank).text()


def train(config: dict[str, Any]) -> None:
    """Run one worker until its process ends; the function that Ray Train executes on each worker."""
    errand: Errand = config["errand"]
    rank = ray.train.get_context().get_world_rank()
    actor = ray.get_runtime_context().current_actor
    node = ray.util.get_node_ip_address()
    errand.desk.report.remote(rank, {"actor": actor, "node": node})
    refusal = _refusal(errand)
    if refusal is not None:
        ray.get(errand.desk.report.remote(rank, {"code": _REFUSED, "words": refusal}))
        return
    with tempfile.TemporaryDirectory(prefix="steptime-") as own:
        folder = _folder(errand, rank, Path(own))
        files = None
        if folder.is_relative_to(own):
            files = ChangedFiles(folder, but=(PLAN_FILE,))
            files.take()  # what is there already came from the other side
        process = _start(errand, folder)
        try:
            _follow(process, rank, errand.desk, files)
        finally:
            if process.poll() is None:
                _kill(process)
        last: dict[str, Any] = {"code": process.wait()}
        if files is not None:
            last["files"] = files.take()
        ray.get(errand.desk.report.remote(rank, last))


def _refusal(errand: Errand) -> str | None:
    if errand.version == steptime.__version__:
        return None
    return (
        f"steptime must have one version on all machines. Received: {errand.version} where you typed the command,"
        f" {steptime.__version__} on a worker"
    )


def _folder(errand: Errand, rank: int, own: Path) -> Path:
    """Return the run folder to use: the person's own where this machine sees it and the workload, else a new one."""
    workload = errand.plan.workload
    seen = (Path(errand.folders[0]) / errand.token).exists()
    if seen and (workload.kind != "file" or Path(workload.target).is_file()):
        return Path(errand.folders[rank])
    plan = errand.plan
    if workload.kind == "file":
        # Ray unpacks what was sent into the folder that this process started in.
        local = dataclasses.replace(workload, target=str(unpacked(workload, Path.cwd())))
        plan = dataclasses.replace(plan, workload=local)
    run = own / Path(errand.folders[0]).name  # laid out as over there: a run is called after its folder
    folder = member_folder(run, rank)
    if errand.before is not None:
        write_copies(run, ray.get(errand.before))
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / PLAN_FILE, {"created": errand.created, "plan": to_json(plan)})
    return folder


def _start(errand: Errand, folder: Path) -> "subprocess.Popen[bytes]":
    variables = worker_variables(errand.plan, os.environ, bytecode_cache())
    gpus = ray.get_gpu_ids()
    variables["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus)) if gpus else HIDE_EVERY_GPU
    variables.pop("TF_USE_LEGACY_KERAS", None)
    with (folder / LOG_FILE).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", _FOLLOWER, str(os.getpid()), *errand.worker, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=variables,
            start_new_session=True,
        )


def _follow(process: "subprocess.Popen[bytes]", rank: int, desk: Any, files: ChangedFiles | None) -> None:
    """Pass on what the process writes and what it is told, until it ends."""
    told: str | None = None
    while process.poll() is None:
        news: dict[str, Any] = {}
        changed: Files = files.take() if files is not None else {}
        if changed:
            news["files"] = changed
        order = ray.get(desk.report.remote(rank, news))
        if order != told:
            told = order
            if order == "stop":
                process.send_signal(signal.SIGINT)
            elif order == "kill":
                _kill(process)
        time.sleep(_POLL_S)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the process and those it started, such as those that load data."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
