"""Groups on a Ray of this machine, with a worker that needs no TensorFlow."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from steptime.launch.ray import RayMember, start_on_ray
from steptime.launch.ray_cluster import Resources, connected
from steptime.plan.plan import Plan
from steptime.record.events import read_events
from steptime.record.store import create_run_folder
from steptime.testing import make_plan

# Ray's own processes and threads leave sockets behind when they are killed.
pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
]

WORKER = """
import json, os, signal, sys, time
from pathlib import Path

_, how, folder = sys.argv
config = json.loads(os.environ["TF_CONFIG"])
plan = json.loads((Path(folder) / "plan.json").read_text())["plan"]

def write(**event):
    with (Path(folder) / "events.jsonl").open("a") as file:
        file.write(json.dumps({"kind": "note", **event}) + "\\n")

run = Path(folder).parent.parent if Path(folder).parent.name == "workers" else Path(folder)
last = run / "checkpoints" / "last"
names = ("CUDA_VISIBLE_DEVICES", "TF_USE_LEGACY_KERAS", "TF_NUM_OF_THE_PERSON", "KERAS_BACKEND")
write(config=config, variables={name: os.environ.get(name) for name in names}, target=plan["workload"]["target"],
      ray=os.getppid(), checkpoint=last.read_text() if last.exists() else None)
print("said", flush=True)
(Path(folder) / "tb").mkdir()
(Path(folder) / "tb" / "x").write_text("tb")
if how == "waits":
    asked = []
    signal.signal(signal.SIGINT, lambda *rest: asked.append(1))
    while not asked:
        time.sleep(0.02)
    sys.exit(130)
sys.exit(7 * config["task"]["index"])
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workload's folder."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "job.py").write_text("def create_model(): ...\n\n\ndef load_data(): ...\n")
    (folder / "worker.py").write_text(WORKER)
    return folder


@pytest.fixture(scope="module")
def plan(home: Path) -> Plan:
    return make_plan(str(home / "job.py"))


@pytest.fixture(scope="module")
def cluster(plan: Plan) -> Iterator[None]:
    """One Ray for all tests: starting it takes seconds."""
    os.environ.pop("RAY_ADDRESS", None)
    os.environ["TF_NUM_OF_THE_PERSON"] = "carried"
    with connected(plan.workload, 2, Resources()) as found:
        assert found.is_local
        assert found.cpus >= 2
        yield
    os.environ.pop("TF_NUM_OF_THE_PERSON")


Start = Callable[[str], Any]


@pytest.fixture
def run(cluster: None, plan: Plan, home: Path, tmp_path: Path) -> tuple[Path, Start]:
    """A new run folder, and what starts two workers on it."""
    folder = create_run_folder(tmp_path, "train", plan)
    return folder, lambda how: start_on_ray(Resources(gpus=0.0), (str(home / "worker.py"), how))(
        plan, folder, 2
    )


def until(what: Callable[[], bool]) -> None:
    give_up_s = time.perf_counter() + 120
    while not what():
        assert time.perf_counter() < give_up_s, "it took too long"
        time.sleep(0.05)


def notes(members: Sequence[RayMember]) -> list[dict[str, Any]]:
    """The one note of each worker."""
    found: dict[int, dict[str, Any]] = {}

    def all_said() -> bool:
        for member in members:
            for event in member.new_events():
                found[member.rank] = event
        return len(found) == len(members)

    until(all_said)
    return [found[member.rank] for member in members]


def test_workers_know_each_other_and_their_ends_are_known(run: tuple[Path, Start], home: Path) -> None:
    folder, start = run
    with start("ends") as members:
        said = notes(members)
        until(lambda: all(member.poll() is not None for member in members))

        assert [member.poll() for member in members] == [0, 7]
    assert [note["config"]["task"]["index"] for note in said] == [0, 1]
    assert said[0]["config"]["cluster"] == said[1]["config"]["cluster"]
    assert len(set(said[0]["config"]["cluster"]["worker"])) == 2
    assert said[0]["variables"] == {
        "CUDA_VISIBLE_DEVICES": "-1", "TF_USE_LEGACY_KERAS": None, "TF_NUM_OF_THE_PERSON": "carried",
        "KERAS_BACKEND": "tensorflow",
    }  # fmt: skip
    assert said[0]["target"] == str(home / "job.py")
    assert (folder / "worker.log").read_text() == "said\n"
    assert (folder / "workers" / "1" / "tb" / "x").read_text() == "tb"
    assert not list(folder.glob(".seen-*"))


def test_workers_that_do_not_see_the_folder_bring_the_workload_send_their_files_and_stop_when_asked(
    run: tuple[Path, Start], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, start = run
    # The file that tells a worker that it sees the same disk is never made.
    monkeypatch.setattr(Path, "touch", lambda path: None)
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "last").write_text("of an earlier attempt")
    (folder / "events.jsonl").write_text('{"kind": "note", "text": "of an earlier attempt"}\n')
    with start("waits") as members:
        said = notes(members)
        for member in members:
            member.stop()
        until(lambda: all(member.poll() is not None for member in members))

        assert [member.poll() for member in members] == [130, 130]
    own = Path(said[0]["target"])

    assert [note["checkpoint"] for note in said] == ["of an earlier attempt"] * 2
    assert own.name == "job.py"
    assert own != home / "job.py"
    assert (folder / "workers" / "1" / "tb" / "x").read_text() == "tb"
    assert (folder / "worker.log").read_text() == "said\n"
    assert [event.get("text") for event in read_events(folder)] == ["of an earlier attempt", None]
    plan = json.loads((folder / "plan.json").read_text())["plan"]
    assert plan["workload"]["target"] == str(home / "job.py")


def test_a_lost_worker_is_noticed_and_the_others_can_be_ended(run: tuple[Path, Start]) -> None:
    folder, start = run
    with start("waits") as members:
        said = notes(members)
        os.kill(said[1]["ray"], signal.SIGKILL)
        until(lambda: members[1].poll() is not None)

        assert members[1].poll() == -9
        assert "Ray lost worker 1" in (folder / "workers" / "1" / "worker.log").read_text()
        for member in members:
            member.kill()
        assert members[0].poll() is not None
