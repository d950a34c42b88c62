"""A process' place in a group, and where its run is kept."""

import argparse
import socket
from pathlib import Path
from typing import Any

import pytest

from steptime.cli.grouping import JOINING, add_group_options, joined_settings, launcher_of, settle
from steptime.errors import UsageError
from steptime.launch.group_launcher import GroupLauncher
from steptime.launch.ports import free_addresses
from steptime.launch.process import ProcessLauncher
from steptime.launch.ray_cluster import Resources
from steptime.launch.ray_launcher import RayLauncher
from steptime.plan.cluster import Place
from steptime.plan.settings import Settings
from steptime.record.events import EventWriter
from steptime.record.store import create_run_folder
from steptime.testing import make_plan


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_group_options(parser)
    parser.set_defaults(resume="never", retries=0, on_oom="stop")
    return parser.parse_args(words)


def two_here(rank: int) -> Place:
    return Place(addresses=free_addresses(2), rank=rank)


def test_flags_become_settings() -> None:
    given = options("--devices", "all", "--workers", "3", "--scale-batch", "--local")
    settings, place = joined_settings(given, Settings())
    assert (settings.devices, settings.workers, settings.scale_batch) == ("all", 3, True)
    assert place == Place()


def test_more_workers_than_there_are_cannot_be_enough() -> None:
    with pytest.raises(UsageError, match="at most --workers, 2"):
        joined_settings(options("--workers", "2", "--min-workers", "3"), Settings())


def test_without_flags_nothing_changes() -> None:
    assert joined_settings(options(), Settings()) == (Settings(), Place())


def test_tf_config_makes_this_process_one_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    place = two_here(1)
    monkeypatch.setenv("TF_CONFIG", place.text())
    settings, joined = joined_settings(options(), Settings())
    assert joined == place
    assert settings.workers == 2


def test_a_group_in_a_group_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", two_here(0).text())
    with pytest.raises(UsageError, match="one of 2 workers already"):
        joined_settings(options("--workers", "4"), Settings())


def test_a_port_in_use_is_an_error_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    place = two_here(0)
    monkeypatch.setenv("TF_CONFIG", place.text())
    with socket.socket() as listener:
        listener.bind(("", place.address[1]))
        listener.listen()
        with pytest.raises(UsageError, match=f"port {place.address[1]}"):
            joined_settings(options(), Settings())


def test_slurm_outside_a_job_is_an_error_with_the_variable() -> None:
    with pytest.raises(UsageError, match="SLURM_PROCID"):
        joined_settings(options("--slurm"), Settings())


@pytest.mark.parametrize(
    ("workers", "joined", "kind"),
    [(1, Place(), ProcessLauncher), (2, Place(), GroupLauncher), (2, two_here(1), ProcessLauncher)],
)
def test_only_a_group_of_our_own_is_launched_as_one(workers: int, joined: Place, kind: Any) -> None:
    assert isinstance(launcher_of(make_plan(workers=workers).settings, joined), kind)


def test_a_further_workers_run_lies_below_the_chiefs(tmp_path: Path) -> None:
    chief = create_run_folder(tmp_path, "train", make_plan())
    own = create_run_folder(tmp_path, JOINING, make_plan())
    events = EventWriter(own)
    events.write("group", rank=1, run_id=chief.name)
    events.close()
    place = settle(own, two_here(1))
    assert place == chief / "workers" / "1"
    assert (place / "plan.json").exists()
    assert settle(chief, Place()) == chief


def test_a_worker_that_never_joined_keeps_a_run_of_its_own(tmp_path: Path) -> None:
    own = create_run_folder(tmp_path, JOINING, make_plan())
    place = settle(own, two_here(1))
    assert place.parent == tmp_path / "train"
    assert place.name.endswith("-worker1")


def test_ray_is_asked_where_it_is_wanted() -> None:
    resources = Resources(cpus=4.0)

    assert isinstance(
        launcher_of(make_plan(workers=2, launcher="ray").settings, None, resources), RayLauncher
    )
