"""Chooses the device of a run before its process starts, and says why. Never falls back silently."""

import importlib.metadata
import sys

from steptime.device.find import FoundGpu, GpuSearch
from steptime.errors import DeviceError
from steptime.plan.plan import Placement

HIDE_EVERY_GPU = "-1"
_CPU_ONLY_PACKAGES = ("tensorflow-cpu", "tensorflow-intel")


def choose_placement(asked: str, search: GpuSearch, cpu_only_build: str | None) -> Placement:
    """Return where to run.

    Args:
        asked: ``auto``, ``cpu``, ``gpu`` or ``gpu:N``; N counts the usable GPUs.
        search: What the driver shows.
        cpu_only_build: Why the installed TensorFlow cannot use any GPU; None when it may.

    Raises:
        DeviceError: A GPU was asked for and cannot be used.
    """
    if asked == "cpu":
        return _cpu("as asked")
    usable = search.usable
    if asked == "auto":
        if not usable:
            return _cpu(f"no usable GPU: {_without_prefix(search.reason)}")
        if cpu_only_build:
            return _cpu(f"{usable[0].facts.name} is there, but {cpu_only_build}")
        return _gpu(0, usable[0], f"the first usable GPU: {usable[0].facts.name}")
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


def _cpu(reason: str) -> Placement:
    return Placement(device="cpu", reason=reason, visible_devices=HIDE_EVERY_GPU)


def _gpu(index: int, gpu: FoundGpu, reason: str) -> Placement:
    return Placement(device=f"gpu:{index}", reason=reason, visible_devices=gpu.visible_as)


def _sentence(text: str | None) -> str:
    return text[:1].upper() + text[1:].rstrip(".") if text else "Nothing more is known"


def _without_prefix(text: str | None) -> str:
    return (text or "the driver shows none").removeprefix("no usable GPU: ")
