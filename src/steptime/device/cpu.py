"""The processors of this machine as a `Device`, read through psutil and Linux' own files."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from steptime.device import cgroup
from steptime.device.device import DeviceFacts, Sample
from steptime.device.host import HostFacts, describe_host
from steptime.device.process_tree import ProcessTree
from steptime.device.rapl import Rapl

# Clock and temperature change slowly and can be dear to read (some drivers ask every core), so they are
# read at most this often and held in between.
_SLOW_INTERVAL_S = 2.0

_THERMAL_COUNT = "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count"

_SCOPE = {
    "utilisation_share": "machine, including time taken by the hypervisor",
    "own_utilisation_share": "this process and its children, as a share of all logical processors",
    "memory_used_bytes": "resident memory of this process and its children",
    "power_w": "processor packages and memory of the machine",
    "energy_j": "processor packages and memory of the machine",
    "temperature_c": "hottest processor sensor",
    "clock_mhz": "mean of all processors",
    "throttle_reasons": "first processor package, and this process's control group",
}


class Cpu:
    """All processors of the machine, and the share that one process tree has of them.

    Args:
        pid: Root of the measured process tree; this process if left out.
        root: Where ``/proc`` and ``/sys`` begin; another one in tests.
        host: Facts of the machine, if they are known already.
    """

    name = "cpu"

    def __init__(
        self, *, pid: int | None = None, root: Path = Path("/"), host: HostFacts | None = None
    ) -> None:
        self._host = host or describe_host(root)
        self._quota_files = cgroup.throttle_files(root)
        self._thermal_file = root / _THERMAL_COUNT if (root / _THERMAL_COUNT).exists() else None
        self._tree = ProcessTree(os.getpid() if pid is None else pid)
        self._rapl = Rapl(root)
        self._next_slow_s = 0.0
        self._clock_mhz: float | None = None
        self._temperature_c: float | None = None
        self._throttle_counts = self._read_throttle_counts()
        self._last = self._read_counters()
        self._read_slowly()

    def describe(self) -> DeviceFacts:
        """Return the facts that a CPU has, and the reasons for the sensors that it lacks."""
        memory = [
            size for size in (self._host.memory_bytes, self._host.memory_limit_bytes) if size is not None
        ]
        reasons = {
            "utilisation_share": None if self._last.total_s > 0 else "the system counts no processor time",
            "clock_mhz": None if self._clock_mhz else "the system offers no processor frequency",
            "temperature_c": None if self._temperature_c else "the system offers no processor temperature",
            "power_w": self._rapl.unavailable,
            "energy_j": self._rapl.unavailable,
            "throttle_reasons": None
            if self._throttle_counts
            else "neither throttle counts nor a quota to read",
            "name": None if self._host.cpu_model else "the system does not name its processor",
            "max_clock_mhz": None if self._host.max_clock_mhz else "the system offers no highest frequency",
        }
        for gpu_only in (
            "uuid",
            "compute_capability",
            "pcie_generation",
            "pcie_width",
            "mig_mode",
            "compute_mode",
        ):
            reasons[gpu_only] = "a CPU has none"
        return DeviceFacts(
            kind="cpu",
            name=self._host.cpu_model,
            memory_bytes=min(memory, default=None),
            max_clock_mhz=self._host.max_clock_mhz,
            scope=dict(_SCOPE),
            unavailable={field: reason for field, reason in reasons.items() if reason},
        )

    def sample(self) -> Sample:
        """Read the sensors; shares and power are means since the last call."""
        before, now = self._last, self._read_counters()
        self._last = now
        if time.perf_counter() >= self._next_slow_s:
            self._read_slowly()
        total_s = now.total_s - before.total_s
        elapsed_s = (now.t_ns - before.t_ns) / 1e9
        own_share = None
        if now.own_s is not None and before.own_s is not None and elapsed_s > 0:
            own_share = max(0.0, now.own_s - before.own_s) / (elapsed_s * self._host.logical_cores)
        power_w = None
        if now.energy_j is not None and before.energy_j is not None and elapsed_s > 0:
            power_w = (now.energy_j - before.energy_j) / elapsed_s
        return Sample(
            t_ns=now.t_ns,
            utilisation_share=_share((now.busy_s - before.busy_s) / total_s) if total_s > 0 else None,
            own_utilisation_share=None if own_share is None else _share(own_share),
            memory_used_bytes=now.memory_bytes,
            power_w=power_w,
            energy_j=now.energy_j,
            temperature_c=self._temperature_c,
            clock_mhz=self._clock_mhz,
            throttle_reasons=self._throttled_since_last(),
        )

    def close(self) -> None:
        """Do nothing: no driver is held."""

    def _read_counters(self) -> "_Counters":
        times = psutil.cpu_times()._asdict()
        # Linux counts the time of guests a second time inside user and nice.
        total_s = sum(times.values()) - times.get("guest", 0.0) - times.get("guest_nice", 0.0)
        own = self._tree.read()
        return _Counters(
            t_ns=time.perf_counter_ns(),
            busy_s=total_s - times["idle"] - times.get("iowait", 0.0),
            total_s=total_s,
            own_s=None if own is None else own[0],
            memory_bytes=None if own is None else own[1],
            energy_j=self._rapl.energy_j(),
        )

    def _read_slowly(self) -> None:
        self._next_slow_s = time.perf_counter() + _SLOW_INTERVAL_S
        frequency = _or_none(psutil.cpu_freq)
        self._clock_mhz = frequency.current if frequency and frequency.current > 0 else None
        self._temperature_c = _temperature_c()

    def _read_throttle_counts(self) -> dict[str, int]:
        counts = {"cpu_quota": cgroup.throttled_periods(self._quota_files), "thermal": self._thermal_count()}
        return {reason: count for reason, count in counts.items() if count is not None}

    def _thermal_count(self) -> int | None:
        if self._thermal_file is None:
            return None
        try:
            return int(self._thermal_file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def _throttled_since_last(self) -> tuple[str, ...] | None:
        if not self._throttle_counts:
            return None
        before, now = self._throttle_counts, self._read_throttle_counts()
        self._throttle_counts = before | now
        return tuple(reason for reason, count in now.items() if count > before.get(reason, count))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counters:
    """Counters of one moment; shares come from the difference of two."""

    t_ns: int
    busy_s: float
    total_s: float
    own_s: float | None
    memory_bytes: int | None
    energy_j: float | None


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def _temperature_c() -> float | None:
    read = getattr(psutil, "sensors_temperatures", None)  # Linux and FreeBSD only
    groups = _or_none(read) if read else None
    if not groups:
        return None
    readings = [
        sensor.current
        for chip in ("coretemp", "k10temp", "zenpower", "cpu_thermal")
        for sensor in groups.get(chip, ())
        if sensor.current is not None and sensor.current > 0
    ]
    return max(readings, default=None)


def _or_none(read: Callable[[], Any]) -> Any:
    """Call ``read``; a sensor file that is missing or odd is no reason to end a training."""
    try:
        return read()
    except (OSError, RuntimeError, ValueError, psutil.Error):
        return None
