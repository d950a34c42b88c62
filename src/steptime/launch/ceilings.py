"""What this machine can do at best: measured once in a process of its own, and kept for the next time."""

import datetime
import hashlib
import importlib.metadata
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from steptime.device.find import GpuSearch
from steptime.device.host import HostFacts
from steptime.environment.child import Answer, ask
from steptime.errors import RecordError
from steptime.plan.codec import from_json
from steptime.plan.plan import Placement
from steptime.record.ceilings import CEILINGS_VERSION, Ceilings, read_ceilings, write_ceilings

_CHILD = "steptime.engine.ceilings"
_LIMIT_S = 240.0

Ask = Callable[..., Answer]


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the person's cache that belongs to steptime."""
    home = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "steptime" / "ceilings"


def find_ceilings(
    placement: Placement,
    host: HostFacts,
    search: GpuSearch,
    cache: Path,
    *,
    again: bool = False,
    child: Ask = ask,
) -> tuple[Ceilings | None, str | None]:
    """Return the ceilings of the device of a run, measured now if they are not known yet.

    Args:
        placement: The device that was taken.
        host: The machine.
        search: Its GPUs.
        cache: Where they are kept; a folder that cannot be written only means measuring again.
        again: Whether to measure though they are known, such as from a time when the machine was busy.
        child: Starts the process that measures.

    Returns:
        The ceilings, and None; or None, and why they could not be measured.
    """
    name = device_name(placement, host, search)
    key = _key(placement, host, name)
    path = cache / f"{key}.json"
    try:
        known = None if again else read_ceilings(path)
    except RecordError:
        known = None
    if known is not None:
        return known, None
    device = "CPU:0" if placement.device == "cpu" else "GPU:0"
    answer = child(
        _CHILD,
        [device],
        limit_s=_LIMIT_S,
        environ={"CUDA_VISIBLE_DEVICES": placement.visible_devices, "TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    if answer.state != "ok":
        said = answer.said.decode(errors="replace").strip().splitlines()
        return None, f"measuring the device {answer.state}: {said[-1][:200] if said else 'it said nothing'}"
    measured = {
        "schema_version": CEILINGS_VERSION,
        "device": placement.device,
        "name": name,
        "key": key,
        "measured": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}",
        **answer.body,
    }
    ceilings = from_json(Ceilings, measured, "ceilings")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        write_ceilings(path, ceilings)
    except OSError:
        pass  # They hold for this run all the same.
    return ceilings, None


def device_name(placement: Placement, host: HostFacts, search: GpuSearch) -> str:
    """Return what the system calls the device that was taken."""
    if placement.device == "cpu":
        return host.cpu_model or host.machine
    number = int(placement.device.partition(":")[2] or 0)
    gpus = search.usable
    return str(gpus[number].facts.name) if number < len(gpus) else placement.device


def _key(placement: Placement, host: HostFacts, name: str) -> str:
    """What a ceiling depends on: the device, the processor's cores that may be used, and the versions."""
    parts = {
        "device": placement.device.partition(":")[0],
        "name": name,
        "host": (host.cpu_model, host.usable_cores, host.cpu_quota_cores, host.cpu_features),
        "tensorflow": _version("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tf-nightly"),
        "schema": CEILINGS_VERSION,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _version(*names: str) -> str:
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""
