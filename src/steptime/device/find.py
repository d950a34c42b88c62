"""Finds NVIDIA GPUs without TensorFlow, and says of each whether it can be used and why not."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from steptime.device.device import Device, DeviceFacts
from steptime.device.nvidia import NvidiaGpu
from steptime.device.nvml import Nvml, NvmlError, open_nvml
from steptime.device.visible import VARIABLE, Visibility, visible_devices
from steptime.errors import DeviceError


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGpu:
    """A GPU, or a MIG slice of one.

    Attributes:
        name: Key of the device in records: ``gpu0``, ``gpu0mig1``.
        facts: What NVML tells of it; ``facts.index`` is nvidia-smi's number.
        usable: Whether a process with the present environment variables can compute on it.
        why_not: The reason if it is not usable.
        cuda_index: Its number inside such a process (``/GPU:N`` in TensorFlow), if that is certain.
        visible_as: What to set ``CUDA_VISIBLE_DEVICES`` to so that a process sees this device and no other.
    """

    name: str
    facts: DeviceFacts
    usable: bool
    why_not: str | None
    cuda_index: int | None
    visible_as: str


class GpuSearch(NamedTuple):
    """The devices that were found, and why there is no usable one if there is none.

    Attributes:
        gpus: All devices in nvidia-smi's order, usable or not.
        reason: Why none is usable; ``None`` if one is.
        hint: What to do about it; ``None`` if one is usable.
    """

    gpus: tuple[FoundGpu, ...]
    reason: str | None
    hint: str | None

    @property
    def usable(self) -> tuple[FoundGpu, ...]:
        """The devices that can be used."""
        return tuple(gpu for gpu in self.gpus if gpu.usable)


def find_gpus(environ: Mapping[str, str] = os.environ, connect: Callable[[], Nvml] = open_nvml) -> GpuSearch:
    """Find all NVIDIA devices of this machine.

    Args:
        environ: Environment variables under which a run would start.
        connect: Opens NVML; raises `DeviceError` if there is no working driver.
    """
    try:
        nvml = connect()
    except DeviceError as error:
        return GpuSearch((), error.message, error.hint)
    try:
        devices = [NvidiaGpu(nvml, handle, index=i, mig_index=mig) for i, mig, handle in _handles(nvml)]
        facts = [device.describe() for device in devices]
    finally:
        nvml.close()
    if not devices:
        return GpuSearch((), "the NVIDIA driver works, but reports no GPU", "look for the card with lspci")
    seen = visible_devices(facts, environ)
    gpus = tuple(
        _found(device.name, facts[place], place, seen, environ) for place, device in enumerate(devices)
    )
    if any(gpu.usable for gpu in gpus):
        return GpuSearch(gpus, None, None)
    reasons = "; ".join(f"{gpu.name} ({gpu.facts.name}): {gpu.why_not}" for gpu in gpus)
    return GpuSearch(gpus, f"no usable GPU: {reasons}", _hint(gpus, environ))


def open_gpu(gpu: FoundGpu, pid: int | None = None, connect: Callable[[], Nvml] = open_nvml) -> Device:
    """Open a device for sampling.

    Args:
        gpu: What `find_gpus` found.
        pid: The measured process; this one if left out.
        connect: Opens NVML.

    Raises:
        DeviceError: The device or the driver has gone since it was found.
    """
    nvml = connect()
    for index, mig_index, handle in _handles(nvml):
        if (index, mig_index) == (gpu.facts.index, gpu.facts.mig_index):
            return NvidiaGpu(nvml, handle, index=index, mig_index=mig_index, pid=pid)
    nvml.close()
    raise DeviceError(f"{gpu.name} was found before, but is gone now", hint="look at dmesg for Xid errors")


def _handles(nvml: Nvml) -> Iterator[tuple[int, int | None, Any]]:
    """Yield number, MIG number and NVML handle of each card, followed by those of its slices."""
    for index in range(_ask_count(nvml, "nvmlDeviceGetCount")):
        try:
            handle = nvml.call("nvmlDeviceGetHandleByIndex", index)
        except NvmlError:
            continue  # a card that has fallen off the bus, or one that this container may not open
        yield index, None, handle
        for mig_index in range(_ask_count(nvml, "nvmlDeviceGetMaxMigDeviceCount", handle)):
            try:
                yield index, mig_index, nvml.call("nvmlDeviceGetMigDeviceHandleByIndex", handle, mig_index)
            except NvmlError:
                continue  # the count is of places for slices, most of them empty


def _ask_count(nvml: Nvml, function: str, *args: Any) -> int:
    try:
        return int(nvml.call(function, *args))
    except NvmlError:
        return 0


def _found(
    name: str, facts: DeviceFacts, place: int, seen: Visibility, environ: Mapping[str, str]
) -> FoundGpu:
    why_not = _why_not(facts, place, seen, environ)
    usable = why_not is None
    return FoundGpu(
        name=name,
        facts=facts,
        usable=usable,
        why_not=why_not,
        cuda_index=seen.positions.index(place) if usable and seen.order_known else None,
        visible_as=facts.uuid or str(facts.index),
    )


def _why_not(facts: DeviceFacts, place: int, seen: Visibility, environ: Mapping[str, str]) -> str | None:
    if facts.mig_mode == "enabled":
        return "MIG mode is on, so only its slices can be used"
    if facts.compute_mode == "prohibited":
        return "its compute mode is 'prohibited'"
    if place in seen.positions:
        return None
    reason = f"hidden by {VARIABLE}={environ.get(VARIABLE, '')}"
    if seen.ended_by and seen.ended_by != "-1":
        reason += f", where the list ends at {seen.ended_by!r}, which names no GPU or one twice"
    return reason


def _hint(gpus: tuple[FoundGpu, ...], environ: Mapping[str, str]) -> str:
    if any(gpu.facts.compute_mode == "prohibited" for gpu in gpus):
        return "ask for compute mode 'default': nvidia-smi --compute-mode=DEFAULT"
    if environ.get(VARIABLE) is not None:
        return f"unset {VARIABLE}, or set it to {gpus[-1].visible_as}"
    return "create a MIG slice (nvidia-smi mig -cgi), or switch MIG mode off (nvidia-smi -mig 0)"
