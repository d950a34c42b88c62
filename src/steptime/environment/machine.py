"""Facts about the machine, the operating system, containers and schedulers: read from files and variables only."""

import os
import platform
import re
import struct
import sys

from steptime.environment.facts import Value
from steptime.environment.place import Place

_SCHEDULERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "slurm",
        "SLURM_JOB_ID",
        ("SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "GPU_DEVICE_ORDINAL"),
    ),
    ("pbs", "PBS_JOBID", ("PBS_GPUFILE",)),
    ("lsf", "LSB_JOBID", ("LSB_GPU_ALLOC",)),
    ("sge", "JOB_SCRIPT", ("SGE_HGR_gpu",)),
)


def read_machine(place: Place) -> dict[str, Value | None]:
    """Return the facts about the operating system, the processor and what encloses this process."""
    system = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
    kernel = (place.text("/proc/version") or "").lower()
    machine = platform.machine().lower()
    facts: dict[str, Value | None] = {
        "os": system,
        "arch": {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine),
        "wsl": system == "linux" and "microsoft" in kernel,
        "glibc": platform.libc_ver()[1] or None if system == "linux" else None,
        "jetson": place.exists("/etc/nv_tegra_release") or None,
        "hosted": _hosted(place),
        "python": platform.python_version(),
        "python_bits": struct.calcsize("P") * 8,
        "conda": bool(place.environ.get("CONDA_PREFIX")),
        "container": _container(place) if system == "linux" else "none",
        "dev_dxg": place.exists("/dev/dxg") if "microsoft" in kernel else None,
    }
    return facts | _scheduler(place) | _processor(place) | _variables(place)


def _hosted(place: Place) -> str:
    if "COLAB_GPU" in place.environ or "COLAB_RELEASE_TAG" in place.environ:
        return "colab"
    return "kaggle" if "KAGGLE_KERNEL_RUN_TYPE" in place.environ else "none"


def _container(place: Place) -> str:
    environ = place.environ
    if environ.get("APPTAINER_NAME") or environ.get("SINGULARITY_NAME") or place.exists("/.singularity.d"):
        return "apptainer"
    if environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if place.exists("/run/.containerenv"):
        return "podman"
    if place.exists("/.dockerenv"):
        return "docker"
    enclosing = environ.get("container") or (place.text("/run/systemd/container") or "").strip()
    return enclosing if enclosing in {"lxc", "docker", "podman"} else "other" if enclosing else "none"


def _scheduler(place: Place) -> dict[str, Value | None]:
    environ = place.environ
    for name, variable, gpus in _SCHEDULERS:
        if environ.get(variable):
            granted = any(environ.get(gpu, "") not in {"", "(null)"} for gpu in gpus)
            counted = environ.get("SLURM_GPUS_ON_NODE", "0").strip("0") != ""
            return {"scheduler": name, "job_gpus": granted or counted}
    return {"scheduler": "none", "job_gpus": None}


def _processor(place: Place) -> dict[str, Value | None]:
    cpuinfo = place.text("/proc/cpuinfo") or ""
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu_avx": "avx" in flags[1].split() if flags else None,
        "cpu_threads": os.cpu_count(),
        "cpu_usable": usable,
        "cpu_quota": _quota(place) if sys.platform == "linux" else None,
    }


def _quota(place: Place) -> float | None:
    """Processor threads' worth of time, from cgroup version 2 or 1; ``None`` without a limit."""
    text = place.text("/sys/fs/cgroup/cpu.max")
    if text is None:
        quota = place.text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
        period = place.text("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
        text = f"{quota} {period}" if quota and period else ""
    numbers = text.split()
    if len(numbers) != 2 or not numbers[0].isdigit():  # "max" or -1: no limit
        return None
    return round(int(numbers[0]) / int(numbers[1]), 2)


def _variables(place: Place) -> dict[str, Value | None]:
    environ = place.environ
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    path = environ.get("LD_LIBRARY_PATH", "")
    hidden = visible is not None and visible.split(",")[0].strip() in {"", "-1", "NoDevFiles"}
    return {
        "visible_devices": visible,
        "gpus_hidden": hidden,
        "driver_capabilities": environ.get("NVIDIA_DRIVER_CAPABILITIES"),
        "loader_path": path or None,
        "loader_path_stubs": any(folder.rstrip("/").endswith("/stubs") for folder in path.split(":")),
        "loader_path_cuda": _cuda_folder(place, path),
        "keras_backend": environ.get("KERAS_BACKEND"),
        "legacy_keras": environ.get("TF_USE_LEGACY_KERAS") in {"1", "true", "True"},
        "bytecode_off": bool(environ.get("PYTHONDONTWRITEBYTECODE")),
    }


def _cuda_folder(place: Place, path: str) -> str:
    for folder in filter(None, path.split(":")):
        wheel = "/nvidia/" in folder
        if not wheel and any(
            name.startswith(("libcudart.so", "libcudnn.so")) for name in place.names(folder)
        ):
            return folder
    return "none"
