"""Groups of workers on a Ray cluster: Ray Train gives processes, places and resources, and notices lost machines."""

import dataclasses
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import steptime
from steptime.launch.mirror import ChangedFiles, write_copies
from steptime.launch.process import WORKER
from steptime.launch.ray_cluster import Resources
from steptime.plan.plan import Plan
from steptime.record.events import EventReader
from steptime.record.store import (
    LOG_FILE,
    PLAN_FILE,
    RECORD_FILE,
    create_member_folder,
    read_plan,
    read_record,
    write_record,
)

if TYPE_CHECKING:
    from steptime.launch.ray_worker import Errand

_REFRESH_S = 0.1
_END_S = 15.0
# What a killed process ends with; also said of a worker whose machine is lost.
_KILLED = -9


def start_on_ray(
    resources: Resources, worker: Sequence[str] = WORKER
) -> Callable[[Plan, Path, int], AbstractContextManager[Sequence["RayMember"]]]:
    """Return a function that starts a group on the cluster this process is connected to.

    Args:
        resources: What each worker gets; the number of GPUs decided.
        worker: What Python is given on the workers, before the run folder.
    """

    @contextmanager
    def start(plan: Plan, folder: Path, workers: int) -> Iterator[Sequence[RayMember]]:
        folders = tuple(create_member_folder(folder, plan, rank) for rank in range(workers))
        for own in folders:
            (own / RECORD_FILE).unlink(missing_ok=True)
        before = _left_before(folder)
        token = folder / f".seen-{uuid.uuid4().hex}"
        token.touch()
        view = _View(plan=plan, folders=folders, desk=_open_desk())
        from steptime.launch.ray_worker import Errand

        errand = Errand(
            plan=plan,
            created=read_plan(folder)[1],
            folders=tuple(str(own.absolute()) for own in folders),
            token=token.name,
            desk=view.desk,
            version=steptime.__version__,
            worker=tuple(worker),
            before=before,
        )
        with tempfile.TemporaryDirectory(prefix="steptime-") as storage:  # for what Ray Train itself writes
            trainer = _trainer(errand, resources, storage)
            thread = threading.Thread(target=view.fit, args=(trainer,), daemon=True)
            members = [RayMember(rank, view) for rank in range(workers)]
            thread.start()
            try:
                yield members
            finally:
                for member in members:
                    member.kill()
                token.unlink(missing_ok=True)
                view.end(thread)

    return start


class RayMember:
    """One worker of a group on Ray (see ``steptime.launch.group.Member``)."""

    def __init__(self, rank: int, view: "_View") -> None:
        self.rank = rank
        self._view = view
        # What an earlier attempt wrote is no sign of life of this one.
        self._reader = EventReader(view.folders[rank])
        list(self._reader.new())

    def poll(self) -> int | None:
        """Return the exit code of its process; -9 for a worker whose machine is lost; None while it goes on."""
        self._view.refresh()
        return self._view.codes.get(self.rank)

    def new_events(self) -> Iterable[dict[str, Any]]:
        """Yield its events since the last call."""
        self._view.refresh()
        return self._reader.new()

    def stop(self) -> None:
        """Ask it to end."""
        self._view.order(self.rank, "stop")

    def kill(self) -> None:
        """End it and what it started, and wait until it is gone, or its machine given up.

        A group is ended as a whole: all are told at once, so that workers which do not answer cost one wait together.
        """
        if self.poll() is not None:
            return
        give_up_s = self._view.kill_all()
        while self.poll() is None and time.perf_counter() < give_up_s:
            time.sleep(_REFRESH_S)
        self._view.give_up(self.rank)


@dataclass(slots=True, kw_only=True)
class _View:
    """What this process knows of the workers; refreshed from the desk, a few times a second at most."""

    plan: Plan
    folders: tuple[Path, ...]
    desk: Any
    codes: dict[int, int] = field(default_factory=dict)
    nodes: dict[int, str] = field(default_factory=dict)
    _actors: dict[int, Any] = field(default_factory=dict)
    _mirrored: set[int] = field(default_factory=set)
    _refreshed_s: float = 0.0
    _acknowledged: int = 0
    _give_up_s: float | None = None
    _ended: threading.Event = field(default_factory=threading.Event)
    _failure: str = ""
    _failed: tuple[int, ...] = ()

    def fit(self, trainer: Any) -> None:
        """Run the trainer to its end; in a thread of its own, since Ray Train blocks."""
        try:
            trainer.fit()
        except Exception as error:  # noqa: BLE001 - whatever ends it is told as the end of the workers
            self._failure = " ".join(str(error).split())
            self._failed = tuple(getattr(error, "worker_failures", ()))
        finally:
            self._ended.set()

    def refresh(self) -> None:
        """Take what the workers told; those that can tell nothing any more are counted as killed."""
        now_s = time.perf_counter()
        if now_s - self._refreshed_s < _REFRESH_S:
            return
        self._refreshed_s = now_s
        ended = self._ended.is_set()
        for rank, news in self._news():
            self._note(rank, news)
        if ended:
            silent = [rank for rank in range(len(self.folders)) if rank not in self.codes]
            # Those that failed by themselves first: whoever watches then blames no worker that Ray ended after them.
            for rank in [rank for rank in silent if rank in self._failed] or silent:
                self._lose(rank)

    def order(self, rank: int, word: str) -> None:
        """Tell a worker what to do."""
        self.desk.order.remote(rank, word)

    def kill_all(self) -> float:
        """Tell every worker that lives to end, once; return when those that have not will be given up."""
        if self._give_up_s is None:
            self._give_up_s = time.perf_counter() + _END_S
            for rank in range(len(self.folders)):
                if rank not in self.codes:
                    self.order(rank, "kill")
        return self._give_up_s

    def give_up(self, rank: int) -> None:
        """Count a worker that does not obey as killed: its machine is cut off, or was never there."""
        import ray

        if rank in self.codes:
            return
        if rank in self._actors:
            ray.kill(self._actors[rank])
        self._failure = self._failure or f"it did not answer for {_END_S:.0f} s"
        self._lose(rank)

    def end(self, thread: threading.Thread) -> None:
        """Leave the desk; every worker has ended or was given up."""
        import ray

        thread.join(_END_S)
        ray.kill(self.desk)

    def _news(self) -> list[tuple[int, dict[str, Any]]]:
        import ray

        try:
            news: list[tuple[int, dict[str, Any]]] = ray.get(
                self.desk.take.remote(self._acknowledged), timeout=_END_S
            )
        except (ray.exceptions.RayError, TimeoutError):
            return []
        self._acknowledged += len(news)
        return news

    def _note(self, rank: int, news: dict[str, Any]) -> None:
        self._actors |= {rank: news["actor"]} if "actor" in news else {}
        self.nodes |= {rank: news["node"]} if "node" in news else {}
        if news.get("files"):
            self._mirrored.add(rank)
            write_copies(self.folders[rank], news["files"])
        if "words" in news:
            self._log(rank, news["words"])
        if "code" in news:
            self.codes[rank] = news["code"]
            if rank in self._mirrored:
                self._own_plan(rank)

    def _own_plan(self, rank: int) -> None:
        """Put the person's plan into a record that was written elsewhere, with another path of the workload."""
        folder = self.folders[rank]
        if (folder / RECORD_FILE).exists():
            write_record(folder, dataclasses.replace(read_record(folder), plan=self.plan))

    def _lose(self, rank: int) -> None:
        where = f" on {self.nodes[rank]}" if rank in self.nodes else ""
        self._log(rank, f"Ray lost worker {rank}{where}: {self._failure or 'it ended without a word'}")
        self.codes[rank] = _KILLED

    def _log(self, rank: int, words: str) -> None:
        with (self.folders[rank] / LOG_FILE).open("a", encoding="utf-8") as log:
            log.write(words[:2000] + "\n")


def _open_desk() -> Any:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from steptime.launch.ray_worker import Desk

    # On this process's own node: what the workers tell must outlive their machines.
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0, scheduling_strategy=here)(Desk).remote()


def _left_before(folder: Path) -> Any:
    """Put what earlier attempts left where workers elsewhere can take it: events, logs, checkpoints; or None."""
    import ray

    files = ChangedFiles(folder).take()
    left = {name: content for name, content in files.items() if Path(name).name != PLAN_FILE}
    return ray.put(left) if left else None


def _trainer(errand: "Errand", resources: Resources, storage: str) -> Any:
    from ray.train import FailureConfig, LoggingConfig, RunConfig, ScalingConfig
    from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

    from steptime.launch.ray_worker import ClusterConfig, train

    gpus = resources.gpus or 0.0
    return DataParallelTrainer(
        train,
        train_loop_config={"errand": errand},
        backend_config=ClusterConfig(),
        scaling_config=ScalingConfig(
            num_workers=len(errand.folders),
            use_gpu=gpus > 0,
            resources_per_worker={"CPU": resources.cpus, **({"GPU": gpus} if gpus else {})},
            placement_strategy="SPREAD" if resources.spread else "PACK",
        ),
        run_config=RunConfig(
            name="ray",
            storage_path=storage,
            # A new attempt begins from steptime's own checkpoint, with whatever is left: that is the launcher's part.
            failure_config=FailureConfig(max_failures=0, controller_failure_limit=0),
            logging_config=LoggingConfig(log_level="ERROR"),
        ),
    )
