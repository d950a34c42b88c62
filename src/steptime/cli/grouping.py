"""``steptime train`` with several devices and workers: options, this process' place in a group, the launcher."""

import argparse
import contextlib
import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.cli.raying import add_ray_options
from steptime.errors import UsageError

if TYPE_CHECKING:
    from steptime.launch.launcher import Launcher, OnEvent
    from steptime.launch.ray_cluster import Resources
    from steptime.plan.cluster import Place
    from steptime.plan.plan import Plan
    from steptime.plan.settings import Settings
    from steptime.record.schema import RunRecord

# Where a worker that is not the chief keeps its run until it knows the name of the chief's.
JOINING = ".joining"


def add_group_options(parser: argparse.ArgumentParser) -> None:
    """Declare what can be said about a group."""
    group = parser.add_argument_group("several devices and workers")
    group.add_argument("--devices", dest="setting_devices", metavar="N|all", help="devices of each worker")
    group.add_argument("--workers", dest="setting_workers", metavar="N", help="processes that train together")
    where = group.add_mutually_exclusive_group()
    for name, meaning in (
        ("local", "start the workers on this machine"),
        ("ray", "start them on a Ray cluster"),
    ):
        where.add_argument(
            f"--{name}", dest="setting_launcher", action="store_const", const=name, help=meaning
        )
    where.add_argument("--slurm", action="store_true", help="be one worker: srun starts one process per task")
    group.add_argument(
        "--scale-batch",
        dest="setting_scale_batch",
        action="store_const",
        const="true",
        help="multiply batch and learning rate by the number of devices (changes the training)",
    )
    group.add_argument(
        "--min-workers", type=int, metavar="N", help="go on with so many when one is lost again and again"
    )
    group.add_argument(
        "--stuck-after",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="give a group up that lives and trains no step for so long (300)",
    )
    add_ray_options(group)


def joined_settings(options: argparse.Namespace, settings: "Settings") -> "tuple[Settings, Place]":
    """Return the settings with the group that somebody else started, and this process' place in it.

    Raises:
        UsageError: Slurm's variables or TF_CONFIG are wrong, or contradict ``--workers``.
    """
    from steptime.plan.cluster import CLUSTER_VARIABLE, Place, read_place
    from steptime.plan.settings import change

    flags = ("devices", "workers", "launcher", "scale_batch")
    given = {key: value for key in flags if (value := getattr(options, f"setting_{key}")) is not None}
    settings = change(settings, given, "a flag")
    if (options.min_workers or 0) > settings.workers > 1:
        raise UsageError(
            f"--min-workers must be at most --workers, {settings.workers}. Received: {options.min_workers}",
            hint="It says how many are enough to go on with.",
        )
    if options.slurm:
        from steptime.launch.slurm import slurm_place

        place = slurm_place(os.environ)
        if place.workers > 1:
            os.environ[CLUSTER_VARIABLE] = place.text()
    else:
        place = read_place(os.environ.get(CLUSTER_VARIABLE))
    if place.workers == 1:
        return settings, Place()
    if settings.workers not in (1, place.workers) or settings.launcher != "local":
        raise UsageError(
            f"This process is one of {place.workers} workers already. Received: --workers {settings.workers}, "
            f"--{settings.launcher}",
            hint=f"Leave them out, or unset {CLUSTER_VARIABLE} to start a group from here.",
        )
    _refuse_starting_again(options, place)
    from steptime.launch.ports import check_own_port

    check_own_port(place)
    return dataclasses.replace(settings, workers=place.workers), place


def _refuse_starting_again(options: argparse.Namespace, place: "Place") -> None:
    """One of several can neither choose a run to go on with nor start again: the others would not come along."""
    given = {
        "--resume auto": options.resume == "auto",
        "--retries": options.retries > 0,
        "--min-workers": options.min_workers is not None,
        "--on-oom halve": options.on_oom == "halve",
    }
    wrong = [flag for flag, is_given in given.items() if is_given]
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} must be said where the whole group is started. Received: one of"
            f" {place.workers} workers that another launcher started",
            hint="Leave it out; --workers N --local, or --ray, starts a group that can start again.",
        )


def launcher_of(
    settings: "Settings", joined: "Place | None" = None, resources: "Resources | None" = None
) -> "Launcher":
    """Return what executes a plan with these settings.

    Args:
        settings: Of the plan.
        joined: This process' place in a group that somebody else started.
        resources: What each worker on Ray gets; None for what is usual.
    """
    from steptime.launch.process import ProcessLauncher

    if settings.launcher == "ray":
        from steptime.launch.ray_launcher import RayLauncher

        return RayLauncher(resources)
    if settings.workers == 1 or (joined is not None and joined.workers > 1):
        return ProcessLauncher()
    from steptime.launch.group_launcher import GroupLauncher
    from steptime.launch.local_group import start_locally

    return GroupLauncher(start_locally())


class EachItsOwn:
    """Launches each plan as its settings say (see `steptime.launch.launcher.Launcher`)."""

    def launch(self, plan: "Plan", folder: Path, on_event: "OnEvent") -> "RunRecord":
        """Execute ``plan`` and return its record."""
        return launcher_of(plan.settings).launch(plan, folder, on_event)


def settle(folder: Path, joined: "Place") -> Path:
    """Put the run of a further worker below the chief's, whose name it learned, and return where it lies.

    Args:
        folder: Where the run was kept.
        joined: This process' place.
    """
    if joined.rank == 0:
        return folder
    from steptime.record.events import read_events
    from steptime.record.store import member_folder

    names = [event["run_id"] for event in read_events(folder) if event["kind"] == "group"]
    name = str(names[-1]) if names else f"{folder.name}-worker{joined.rank}"
    place = folder.parent.parent / "train" / name
    place = member_folder(place, joined.rank) if names else place
    place.parent.mkdir(parents=True, exist_ok=True)
    settled = folder.rename(place)
    with contextlib.suppress(OSError):  # others may still be joining
        folder.parent.rmdir()
    return settled
