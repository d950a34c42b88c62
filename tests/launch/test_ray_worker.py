"""What workers on Ray do and tell, with a desk in this process instead of a cluster."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import steptime
from steptime.launch.ray import RayMember, _View
from steptime.plan.plan import Plan
from steptime.record.events import read_events
from steptime.record.store import create_member_folder, create_run_folder, read_plan
from steptime.testing import make_plan

# Ray itself is imported in the tests: merely to collect them must cost nothing.
pytestmark = [pytest.mark.ray, pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")]

WORKER = """
import json, signal, sys, time
from pathlib import Path

_, how, folder = sys.argv
folder = Path(folder)
asked = []
signal.signal(signal.SIGINT, lambda *rest: asked.append(1))
target = json.loads((folder / "plan.json").read_text())["plan"]["workload"]["target"]
with (folder / "events.jsonl").open("a") as file:
    file.write(json.dumps({"kind": "note", "text": target}) + "\\n")
print("said", flush=True)
while how == "waits" and not asked:
    time.sleep(0.02)
(folder / "last").write_text("written at the end")
sys.exit(5)
"""


class Remote:
    """A method that is called as those of an actor are."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.remote = call


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A desk that answers at once."""
    import ray
    import ray.train
    import ray.util

    from steptime.launch.ray_worker import Desk

    own = Desk()
    monkeypatch.setattr(ray, "get", lambda reference, timeout=None: reference)
    monkeypatch.setattr(ray, "kill", lambda actor: None)
    monkeypatch.setattr(ray, "get_gpu_ids", list)
    monkeypatch.setattr(ray, "get_runtime_context", lambda: SimpleNamespace(current_actor="actor"))
    monkeypatch.setattr(ray.util, "get_node_ip_address", lambda: "192.0.2.7")
    monkeypatch.setattr(ray.train, "get_context", lambda: SimpleNamespace(get_world_rank=lambda: 1))
    monkeypatch.setenv("TF_CONFIG", "{}")
    return SimpleNamespace(report=Remote(own.report), order=Remote(own.order), take=Remote(own.take))


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "job.py").write_text("def create_model(): ...\n\n\ndef load_data(): ...\n")
    return make_plan(str(tmp_path / "job.py"))


@pytest.fixture
def folders(tmp_path: Path, plan: Plan) -> tuple[Path, Path]:
    folder = create_run_folder(tmp_path / "runs", "train", plan)
    return folder, create_member_folder(folder, plan, 1)


@pytest.fixture
def start(
    desk: Any, plan: Plan, folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Starts the second worker in a thread, and returns what this process sees of it."""
    from steptime.launch.ray_worker import Errand, train

    (tmp_path / "worker.py").write_text(WORKER)
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "unpacked" / "job.py").write_text("")
    monkeypatch.chdir(tmp_path / "unpacked")

    def start(how: str, version: str = steptime.__version__, before: Any = None) -> RayMember:
        errand = Errand(
            plan=plan, created=read_plan(folders[0])[1], folders=tuple(map(str, folders)), token=".seen", desk=desk,
            version=version, worker=(str(tmp_path / "worker.py"), how), before=before,
        )  # fmt: skip
        member = RayMember(1, _View(plan=plan, folders=folders, desk=desk))

        def work() -> None:
            # As in all processes that Ray starts.
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            train({"errand": errand})

        threading.Thread(target=work, daemon=True).start()
        return member

    return start


def code_of(member: RayMember) -> int | None:
    give_up_s = time.perf_counter() + 60
    while member.poll() is None and time.perf_counter() < give_up_s:
        time.sleep(0.05)
    return member.poll()


def until_said(member: RayMember) -> str:
    give_up_s = time.perf_counter() + 60
    while time.perf_counter() < give_up_s:
        for event in member.new_events():
            return str(event["text"])
        time.sleep(0.05)
    raise AssertionError("the worker said nothing")


def test_a_worker_that_sees_the_run_folder_works_in_it(
    start: Any, folders: tuple[Path, Path], plan: Plan
) -> None:
    (folders[0] / ".seen").touch()
    member = start("ends")

    assert code_of(member) == 5
    assert (folders[1] / "last").read_text() == "written at the end"
    assert read_events(folders[1])[0]["text"] == plan.workload.target


def test_one_that_does_not_sends_its_files_and_has_what_was_there_before(
    start: Any, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    earlier = '{"kind": "note", "text": "of an earlier attempt"}\n'
    (folders[1] / "events.jsonl").write_text(earlier)
    member = start("ends", before={"workers/1/events.jsonl": earlier.encode(), "checkpoints/x": b"kept"})

    assert code_of(member) == 5
    assert (folders[1] / "last").read_text() == "written at the end"
    assert (folders[1] / "worker.log").read_text() == "said\n"
    texts = [event["text"] for event in read_events(folders[1])]
    assert texts == ["of an earlier attempt", str(tmp_path / "unpacked" / "job.py")]
    # The earlier attempt's events are no news of this one.
    assert [event["text"] for event in member.new_events()] == texts[1:]
    plan = json.loads((folders[1] / "plan.json").read_text())["plan"]
    assert plan["workload"]["target"] == str(tmp_path / "job.py")


def test_a_worker_ends_when_it_is_asked_to(start: Any, folders: tuple[Path, Path]) -> None:
    member = start("waits")
    until_said(member)
    member.stop()

    assert code_of(member) == 5
    assert (folders[1] / "last").exists()


def test_a_worker_is_ended_when_it_must_be(start: Any, folders: tuple[Path, Path]) -> None:
    member = start("waits")
    until_said(member)
    member.kill()

    assert member.poll() == -9
    assert not (folders[1] / "last").exists()


def test_another_version_of_steptime_is_refused_in_words(start: Any, folders: tuple[Path, Path]) -> None:
    member = start("ends", version="0.0.1")

    assert code_of(member) == 2
    assert "one version on all machines. Received: 0.0.1" in (folders[1] / "worker.log").read_text()


def test_a_worker_that_ray_lost_is_told_before_those_that_ray_ended_after_it(
    desk: Any, plan: Plan, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lost(Exception):
        worker_failures = {1: "the machine is gone"}  # noqa: RUF012

    class Trainer:
        def fit(self) -> None:
            raise Lost("the machine is gone")

    view = _View(plan=plan, folders=folders, desk=desk)
    view.fit(Trainer())
    first, second = (RayMember(rank, view) for rank in range(2))

    assert (first.poll(), second.poll()) == (None, -9)
    assert "Ray lost worker 1: the machine is gone" in (folders[1] / "worker.log").read_text()
    assert code_of(first) == -9


def test_workers_that_do_not_answer_cost_one_wait_together(
    desk: Any, plan: Plan, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steptime.launch.ray._END_S", 0.5)
    view = _View(plan=plan, folders=folders, desk=desk)
    members = [RayMember(rank, view) for rank in range(2)]
    begin_s = time.perf_counter()
    for member in members:
        member.kill()

    assert time.perf_counter() - begin_s < 0.9
    assert [member.poll() for member in members] == [-9, -9]
    assert [desk.report.remote(rank, {}) for rank in range(2)] == ["kill", "kill"]


def test_news_whose_answer_came_too_late_are_told_again_and_once(
    desk: Any, plan: Plan, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    def too_late(reference: Any, timeout: float | None = None) -> Any:
        raise TimeoutError

    view = _View(plan=plan, folders=folders, desk=desk)
    desk.report.remote(1, {"words": "said", "code": 5})
    with monkeypatch.context() as slow:
        slow.setattr(ray, "get", too_late)
        view.refresh()
    assert view.codes == {}
    for _ in range(2):
        view._refreshed_s = 0.0
        view.refresh()
    assert view.codes == {1: 5}
    assert (folders[1] / "worker.log").read_text() == "said\n"


def test_addresses_are_free_and_every_worker_is_told_all_of_them(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from steptime.launch.ray_worker import free_address, set_tf_config

    address = free_address()
    set_tf_config([address, "192.0.2.8:2222"], 1)
    config = json.loads(os.environ["TF_CONFIG"])

    assert int(address.removeprefix("192.0.2.7:")) in range(20_000, 32_000)
    assert config["cluster"]["worker"] == [address, "192.0.2.8:2222"]
    assert config["task"] == {"type": "worker", "index": 1}
