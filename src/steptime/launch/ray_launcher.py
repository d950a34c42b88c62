"""Runs a plan with a group of workers on a Ray cluster."""

import dataclasses
from pathlib import Path

import steptime
from steptime.errors import UsageError
from steptime.launch.group_launcher import GroupLauncher
from steptime.launch.launcher import OnEvent
from steptime.launch.ray import start_on_ray
from steptime.launch.ray_cluster import Cluster, Resources, choose_gpus, connected
from steptime.launch.vital_signs import Limits
from steptime.plan.plan import Plan
from steptime.record.schema import SCHEMA_VERSION, Outcome, RunRecord
from steptime.record.store import read_plan, write_record


class RayLauncher:
    """Launches groups on Ray (see ``steptime.launch.launcher.Launcher``).

    Args:
        resources: What each worker gets.
        limits: How long what may take; None for those of the plan.
    """

    def __init__(self, resources: Resources | None = None, limits: Limits | None = None) -> None:
        self._resources = resources or Resources()
        self._limits = limits

    def launch(self, plan: Plan, folder: Path, on_event: OnEvent) -> RunRecord:
        """Execute ``plan`` on the cluster of RAY_ADDRESS, or one of this machine, and return the chief's record."""
        settings = plan.settings
        try:
            with connected(plan.workload, settings.workers, self._resources) as cluster:
                resources, placement = choose_gpus(
                    cluster, settings.device, settings.devices, settings.workers, self._resources
                )
                on_event({"kind": "note", "text": _words(cluster, settings.workers, resources)})
                launcher = GroupLauncher(start_on_ray(resources), self._limits)
                return launcher.launch(dataclasses.replace(plan, placement=placement), folder, on_event)
        except UsageError as error:
            record = _refused(plan, folder, error)
            write_record(folder, record)
            return record


def _words(cluster: Cluster, workers: int, resources: Resources) -> str:
    where = "a Ray started on this machine" if cluster.is_local else "the Ray cluster"
    gpus = f" and {resources.gpus:g} GPU" if resources.gpus else ""
    return (
        f"{workers} workers with {resources.cpus:g} CPU{gpus} each on {where}, which has {cluster.cpus:g} CPUs and"
        f" {cluster.gpus:g} GPUs"
    )


def _refused(plan: Plan, folder: Path, error: UsageError) -> RunRecord:
    return RunRecord(
        schema_version=SCHEMA_VERSION,
        steptime_version=steptime.__version__,
        run_id=folder.name,
        created=read_plan(folder)[1],
        plan=plan,
        outcome=Outcome(
            status="failed", phase="start", reason=error.message, hint=error.hint, exit_code=error.exit_code
        ),
    )
