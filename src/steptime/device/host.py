"""The machine around the devices: system, processors, memory, containers. Never its name or its user."""

import os
import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from steptime.device import cgroup


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """What a record keeps of the machine; ``None`` means that the system does not say.

    Attributes:
        os: ``Linux``, ``Windows`` or ``Darwin``.
        os_release: Name and version as the system prints it, such as ``Debian GNU/Linux 12 (bookworm)``.
        kernel: Release of the kernel.
        machine: Architecture, such as ``x86_64``.
        cpu_model: Name of the processor.
        cpu_features: Those vector instructions that TensorFlow's kernels care about.
        physical_cores: Cores, not counting hyper-threads.
        logical_cores: Processors that the system schedules on.
        usable_cores: Processors that this process may run on (affinity).
        cpu_quota_cores: Processors' worth of time that a container grants; ``None`` without a limit.
        max_clock_mhz: Highest frequency.
        memory_bytes: Memory of the machine.
        memory_limit_bytes: Memory that a container grants; ``None`` without a limit.
        load_average_1min: Processes that wanted to run, averaged over the minute before.
        wsl: Version of the Windows Subsystem for Linux; ``None`` outside it.
        container: Kind of container; ``None`` outside of any that is known.
        virtual_machine: Whether a hypervisor announces itself.
        python_version: Such as ``3.12.4``.
        python_build: Implementation and compiler.
    """

    os: str
    os_release: str | None
    kernel: str
    machine: str
    cpu_model: str | None
    cpu_features: tuple[str, ...]
    physical_cores: int | None
    logical_cores: int
    usable_cores: int
    cpu_quota_cores: float | None
    max_clock_mhz: int | None
    memory_bytes: int
    memory_limit_bytes: int | None
    load_average_1min: float | None
    wsl: str | None
    container: str | None
    virtual_machine: bool | None
    python_version: str
    python_build: str


_VECTOR_FEATURES = ("avx", "avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni", "amx_tile", "asimd", "sve")


def describe_host(root: Path = Path("/"), environ: Mapping[str, str] = os.environ) -> HostFacts:
    """Read the facts of this machine; takes some milliseconds.

    Args:
        root: Where ``/proc``, ``/sys`` and ``/etc`` begin; another one in tests.
        environ: Environment variables.
    """
    cpuinfo = _read(root / "proc/cpuinfo")
    features = _cpu_features(cpuinfo)
    logical_cores = psutil.cpu_count() or os.cpu_count() or 1
    return HostFacts(
        os=platform.system(),
        os_release=_os_release(root),
        kernel=platform.release(),
        machine=platform.machine(),
        cpu_model=_cpu_model(cpuinfo),
        cpu_features=tuple(name for name in _VECTOR_FEATURES if name in features),
        physical_cores=psutil.cpu_count(logical=False),
        logical_cores=logical_cores,
        usable_cores=_usable_cores(logical_cores),
        cpu_quota_cores=cgroup.cpu_quota_cores(root),
        max_clock_mhz=_max_clock_mhz(),
        memory_bytes=int(psutil.virtual_memory().total),
        memory_limit_bytes=cgroup.memory_limit_bytes(root),
        load_average_1min=_load_average(),
        wsl=_wsl(root, environ),
        container=_container(root, environ),
        virtual_machine="hypervisor" in features if features else None,
        python_version=platform.python_version(),
        python_build=f"{platform.python_implementation()}, {platform.python_compiler()}",
    )


def _os_release(root: Path) -> str | None:
    system = platform.system()
    if system == "Windows":
        return f"Windows {platform.release()} {platform.version()}"
    if system == "Darwin":
        return f"macOS {platform.mac_ver()[0]}"
    match = re.search(r'^PRETTY_NAME="?(.*?)"?$', _read(root / "etc/os-release"), re.MULTILINE)
    return match.group(1) if match else None


def _cpu_model(cpuinfo: str) -> str | None:
    match = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    if match:
        return " ".join(match.group(1).split())
    # On Linux this repeats the architecture, which names no processor.
    return None if platform.system() == "Linux" else platform.processor() or None


def _cpu_features(cpuinfo: str) -> frozenset[str]:
    match = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return frozenset(match.group(1).split()) if match else frozenset()


def _usable_cores(logical_cores: int) -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else logical_cores


def _max_clock_mhz() -> int | None:
    try:
        frequency = psutil.cpu_freq()
    except (OSError, RuntimeError):
        return None
    return round(frequency.max) if frequency and frequency.max > 0 else None


def _load_average() -> float | None:
    try:
        return float(psutil.getloadavg()[0])
    except OSError:
        return None


def _wsl(root: Path, environ: Mapping[str, str]) -> str | None:
    release = _read(root / "proc/sys/kernel/osrelease").lower()
    if "microsoft" not in release:
        return None
    # Version 2 runs a real kernel, named "...-microsoft-standard-WSL2", and sets this variable.
    return "2" if "wsl2" in release or "standard" in release or "WSL_INTEROP" in environ else "1"


_CGROUP_MARKS = (("kubepods", "kubernetes"), ("docker", "docker"), ("libpod", "podman"), ("lxc", "lxc"))


def _container(root: Path, environ: Mapping[str, str]) -> str | None:
    if "KUBERNETES_SERVICE_HOST" in environ:
        return "kubernetes"
    if "APPTAINER_CONTAINER" in environ or "SINGULARITY_CONTAINER" in environ:
        return "apptainer"
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    groups = _read(root / "proc/self/cgroup") + _read(root / "proc/1/cgroup")
    for mark, kind in _CGROUP_MARKS:
        if mark in groups:
            return kind
    return environ.get("container") or None  # set by systemd-nspawn and lxc


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
