"""Where a run goes, and in the doctor's words why not where it was asked to go."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from steptime.errors import DeviceError
from steptime.plan.cluster import Place
from steptime.plan.plan import Placement

if TYPE_CHECKING:
    from steptime.device.find import GpuSearch


def place(
    asked: str, search: "GpuSearch", cpu_only_build: str | None, devices: str = "1", workers: int = 1
) -> Placement:
    """Return the devices of a run.

    Args:
        asked: The setting ``device``.
        search: What the driver shows.
        cpu_only_build: Why the installed TensorFlow cannot use any GPU; None when it may.
        devices: The setting ``devices``.
        workers: Workers that share this machine.

    Raises:
        DeviceError: A GPU was asked for and cannot be used; the doctor's rules give the reason and the remedy.
    """
    from steptime.launch.placement import choose_placement

    try:
        return choose_placement(asked, search, cpu_only_build, devices, workers)
    except DeviceError as error:
        from steptime.diagnosis.environment import why_no_gpu
        from steptime.environment.read import read_first

        raise explained(error, why_no_gpu(read_first())) from None


def place_joined(
    asked: str,
    search: "GpuSearch",
    cpu_only_build: str | None,
    devices: str,
    joined: Place,
    variables: Mapping[str, str],
) -> Placement:
    """Return the devices of one of several workers that somebody else started.

    Those of one machine take different GPUs where each of them sees enough for all. Slurm may have given each task GPUs
    of its own.

    Args:
        asked: The setting ``device``.
        search: What the driver shows.
        cpu_only_build: Why the installed TensorFlow cannot use any GPU; None when it may.
        devices: The setting ``devices``.
        joined: This process' place.
        variables: The environment.

    Raises:
        DeviceError: A GPU was asked for and cannot be used.
    """
    from steptime.launch.placement import placement_of_worker

    hosts = [address.rpartition(":")[0] for address in joined.addresses]
    here = [rank for rank, host in enumerate(hosts) if host == hosts[joined.rank]]
    needed = len(here) * (1 if devices == "all" else int(devices))
    shares = asked in ("auto", "gpu") and "SLURM_GPUS_PER_TASK" not in variables
    if not shares or len(search.usable) < needed:
        return place(asked, search, cpu_only_build, devices)
    whole = place(asked, search, cpu_only_build, devices, len(here))
    return placement_of_worker(whole, here.index(joined.rank), len(here))


def explained(error: DeviceError, why: tuple[str, str] | None) -> DeviceError:
    """Add the doctor's reason to an error and put the doctor's remedy in its hint.

    Args:
        error: What the driver and the installed packages say.
        why: The doctor's reason and remedy, one line each; None when no rule applies.
    """
    if why is None:
        return error
    reason, remedy = why
    return DeviceError(
        f"{error.message.rstrip('.')}. The doctor says: {reason}",
        hint=f"{remedy[:1].upper()}{remedy[1:].rstrip('.')}. `steptime doctor` shows the evidence.",
    )
