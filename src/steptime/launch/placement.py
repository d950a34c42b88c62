"""Chooses the device of a run before its process starts, and says why. Never falls back silently."""

import dataclasses
import importlib.metadata
import sys
from collections.abc import Sequence

from steptime.device.find import FoundGpu, GpuSearch
from steptime.errors import DeviceError
from steptime.plan.plan import Placement

HIDE_EVERY_GPU = "-1"
_CPU_ONLY_PACKAGES = ("tensorflow-cpu", "tensorflow-intel")


def choose_placement(
    asked: str, search: GpuSearch, cpu_only_build: str | None, devices: str = "1", workers: int = 1
) -> Placement:
    """Return where to run.

    Args:
        asked: ``auto``, ``cpu``, ``gpu`` or ``gpu:N``; N counts the usable GPUs.
        search: What the driver shows.
        cpu_only_build: Why the installed TensorFlow cannot use any GPU; None when it may.
        devices: How many of them train together in a worker, or ``all``.
        workers: Workers that share this machine; the placement names the devices of all of them.

    Raises:
        DeviceError: A GPU was asked for and cannot be used.
    """
    if asked == "cpu":
        return _cpu("as asked", devices, workers)
    usable = search.usable
    if asked == "auto":
        if not usable:
            return _cpu(f"no usable GPU: {_without_prefix(search.reason)}", devices, workers)
        if cpu_only_build:
            return _cpu(f"{usable[0].facts.name} is there, but {cpu_only_build}", devices, workers)
        if devices == "1" and workers == 1:
            return _gpu(0, usable[0], f"the first usable GPU: {usable[0].facts.name}")
        return _gpus(usable, devices, workers)
    if not usable:
        raise DeviceError(
            f"--device {asked} must name a usable GPU. {_sentence(search.reason)}",
            hint=f"{_sentence(search.hint)}. Or train with --device cpu.",
        )
    if cpu_only_build:
        raise DeviceError(
            f"--device {asked} needs a TensorFlow built for GPUs. Received: {cpu_only_build}",
            hint="In a fresh environment: pip install 'tensorflow[and-cuda]'",
        )
    if devices != "1" or workers > 1:
        return _gpus(usable, devices, workers, asked)
    index = int(asked.partition(":")[2] or 0)
    if index >= len(usable):
        raise DeviceError(
            f"--device {asked} must name one of the {len(usable)} usable GPUs, gpu:0 to gpu:{len(usable) - 1}.",
            hint="nvidia-smi -L lists the GPUs of this machine.",
        )
    return _gpu(index, usable[index], f"as asked: {usable[index].facts.name}")


def cpu_only_build() -> str | None:
    """Return why the installed TensorFlow cannot use a GPU, from package data alone; None when it may."""
    for package in _CPU_ONLY_PACKAGES:
        try:
            importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        return f"the installed package is {package}, which is built without CUDA"
    if sys.platform in ("win32", "darwin"):
        return f"TensorFlow's wheels for {sys.platform} are built without CUDA"
    return None


def placement_of_worker(placement: Placement, rank: int, workers: int) -> Placement:
    """Return the part of a machine's placement that one of the workers on it gets."""
    if workers == 1 or placement.device == "cpu":
        return placement
    shown = placement.visible_devices.split(",")
    first = rank * placement.devices
    own = shown[first : first + placement.devices]
    return dataclasses.replace(placement, device=f"gpu:{first}", visible_devices=",".join(own))


def _cpu(reason: str, devices: str, workers: int) -> Placement:
    count = 1 if devices == "all" else int(devices)
    if count > 1 and workers > 1:
        raise DeviceError(
            f"A worker on a CPU is one device. Received: {count} devices for each of {workers} workers",
            hint="Say --workers N or --devices N; on a CPU one of them.",
        )
    split = f"; split into {count} logical devices" if count > 1 else ""
    return Placement(device="cpu", reason=reason + split, visible_devices=HIDE_EVERY_GPU, devices=count)


def _gpus(usable: Sequence[FoundGpu], devices: str, workers: int, asked: str = "gpu") -> Placement:
    """Take the first GPUs, equally many for every worker of this machine."""
    if ":" in asked:
        raise DeviceError(
            f"--device {asked} names one GPU. Received with it: --devices {devices}, {workers} worker(s)",
            hint="Say --device gpu, and which GPUs there are with CUDA_VISIBLE_DEVICES.",
        )
    each = len(usable) // workers if devices == "all" else int(devices)
    if each * workers > len(usable) or not each:
        raise DeviceError(
            f"{workers} worker(s) with {devices} GPU(s) each must find as many usable GPUs. "
            f"Received: {len(usable)}",
            hint="nvidia-smi -L lists the GPUs of this machine; --device cpu trains without.",
        )
    taken = usable[: each * workers]
    return Placement(
        device="gpu:0",
        reason=f"{len(taken)} of {len(usable)} usable GPUs, the first is {taken[0].facts.name}",
        visible_devices=",".join(gpu.visible_as for gpu in taken),
        devices=each,
    )


def _gpu(index: int, gpu: FoundGpu, reason: str) -> Placement:
    return Placement(device=f"gpu:{index}", reason=reason, visible_devices=gpu.visible_as)


def _sentence(text: str | None) -> str:
    return text[:1].upper() + text[1:].rstrip(".") if text else "Nothing more is known"


def _without_prefix(text: str | None) -> str:
    return (text or "the driver shows none").removeprefix("no usable GPU: ")
