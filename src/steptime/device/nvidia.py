"""One NVIDIA GPU, or one MIG slice of it, as a `Device`, read through NVML.

Units and meanings of NVML's answers: NVIDIA's NVML API reference, group "Device Queries". Nearly every query
can be unsupported (virtual machines, laptops, MIG slices, Windows and WSL), so each is asked once at the
start, and one that is refused for good is not asked again.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from steptime.device.device import DeviceFacts, Sample
from steptime.device.nvml import Nvml, NvmlError

_CLOCK_SM, _CLOCK_MEMORY = 1, 2
_TEMPERATURE_GPU = 0

# Errors that a later call cannot mend.
_FINAL = frozenset(
    {
        "NVML_ERROR_NOT_SUPPORTED",
        "NVML_ERROR_FUNCTION_NOT_FOUND",
        "NVML_ERROR_NO_PERMISSION",
        "NVML_ERROR_INVALID_ARGUMENT",
        "NVML_ERROR_DEPRECATED",
    }
)

# Bits of nvmlClocksEventReasons. "Idle" and "the user set these clocks" hold nothing back that was wanted.
_THROTTLE_BITS = {
    0x4: "power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal",
    0x40: "hw_thermal",
    0x80: "power_brake",
}

_SCOPE = {
    "utilisation_share": "card, all processes",
    "own_utilisation_share": "this process",
    "memory_used_bytes": "card, all processes; TensorFlow reserves nearly all memory unless told otherwise",
    "power_w": "card with its memory, averaged by the driver (over up to a second on recent cards)",
    "energy_j": "card with its memory",
    "temperature_c": "card's core",
    "clock_mhz": "streaming multiprocessors",
    "throttle_reasons": "card",
}


@dataclass(frozen=True, slots=True)
class _Query:
    """One question to NVML: which field it fills, how it is asked, and what its answer means."""

    field: str
    function: str
    args: tuple[int, ...]
    convert: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a query has no answer, and whether asking again is in vain."""

    reason: str
    final: bool


def _positive(factor: float) -> Callable[[Any], float | None]:
    """Convert a quantity that cannot be zero: drivers answer 0 where there is no sensor."""

    def convert(answer: Any) -> float | None:
        return answer * factor if answer > 0 else None

    return convert


def _count(answer: Any) -> int | None:
    return int(answer) if answer > 0 else None


def _percent(answer: Any) -> float | None:
    return answer.gpu / 100 if 0 <= answer.gpu <= 100 else None


def _throttle_reasons(mask: Any) -> tuple[str, ...]:
    return tuple(name for bit, name in _THROTTLE_BITS.items() if mask & bit)


_SENSORS = (
    _Query("utilisation_share", "nvmlDeviceGetUtilizationRates", (), _percent),
    _Query("memory_used_bytes", "nvmlDeviceGetMemoryInfo", (), lambda answer: int(answer.used)),
    _Query("power_w", "nvmlDeviceGetPowerUsage", (), _positive(1e-3)),
    _Query("energy_j", "nvmlDeviceGetTotalEnergyConsumption", (), _positive(1e-3)),
    _Query("temperature_c", "nvmlDeviceGetTemperature", (_TEMPERATURE_GPU,), float),
    _Query("clock_mhz", "nvmlDeviceGetClockInfo", (_CLOCK_SM,), _positive(1.0)),
    # The older name of nvmlDeviceGetCurrentClocksEventReasons; drivers before 535 know only this one.
    _Query("throttle_reasons", "nvmlDeviceGetCurrentClocksThrottleReasons", (), _throttle_reasons),
)

_COMPUTE_MODES = {0: "default", 2: "prohibited", 3: "exclusive_process"}

_FACTS = (
    _Query("name", "nvmlDeviceGetName", (), str),
    _Query("uuid", "nvmlDeviceGetUUID", (), str),
    _Query("memory_bytes", "nvmlDeviceGetMemoryInfo", (), lambda answer: _count(answer.total)),
    _Query(
        "compute_capability",
        "nvmlDeviceGetCudaComputeCapability",
        (),
        lambda answer: f"{answer[0]}.{answer[1]}",
    ),
    _Query("power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", (), _positive(1e-3)),
    _Query("power_limit_default_w", "nvmlDeviceGetPowerManagementDefaultLimit", (), _positive(1e-3)),
    _Query("pcie_generation", "nvmlDeviceGetMaxPcieLinkGeneration", (), _count),
    _Query("pcie_width", "nvmlDeviceGetMaxPcieLinkWidth", (), _count),
    _Query("pci_bus_id", "nvmlDeviceGetPciInfo", (), lambda answer: str(answer.busId)),
    _Query("mig_mode", "nvmlDeviceGetMigMode", (), lambda answer: "enabled" if answer[0] else "disabled"),
    _Query("compute_mode", "nvmlDeviceGetComputeMode", (), _COMPUTE_MODES.get),
    _Query("max_clock_mhz", "nvmlDeviceGetMaxClockInfo", (_CLOCK_SM,), _count),
    _Query("max_memory_clock_mhz", "nvmlDeviceGetMaxClockInfo", (_CLOCK_MEMORY,), _count),
)


_SYSTEM_FACTS = (
    _Query("driver", "nvmlSystemGetDriverVersion", (), str),
    # 12040 means 12.4.
    _Query(
        "cuda_version",
        "nvmlSystemGetCudaDriverVersion_v2",
        (),
        lambda answer: f"{answer // 1000}.{answer % 1000 // 10}",
    ),
)


class NvidiaGpu:
    """One GPU or MIG slice.

    Args:
        nvml: The open door; closed together with this device.
        handle: NVML's handle of the GPU or slice.
        index: Number of the GPU as nvidia-smi counts.
        mig_index: Number of the slice in that GPU, if it is one.
        pid: The measured process; this one if left out.
    """

    def __init__(
        self, nvml: Nvml, handle: Any, *, index: int, mig_index: int | None = None, pid: int | None = None
    ) -> None:
        self.name = f"gpu{index}" if mig_index is None else f"gpu{index}mig{mig_index}"
        self._nvml, self._handle = nvml, handle
        self._index, self._mig_index = index, mig_index
        self._pid = os.getpid() if pid is None else pid
        self._own_seen = False
        self._own_last_us = 0
        first, self._refusals = _ask(nvml, _SENSORS, handle)
        self._first_energy_j: float | None = first.get("energy_j")
        self._own_utilisation_share()

    def describe(self) -> DeviceFacts:
        """Return the facts of the card, and the reason for each that NVML does not tell."""
        card, no_card = _ask(self._nvml, _FACTS, self._handle)
        system, no_system = _ask(self._nvml, _SYSTEM_FACTS)
        refusals = self._refusals | no_card | no_system
        return DeviceFacts(
            kind="gpu",
            index=self._index,
            mig_index=self._mig_index,
            scope=dict(_SCOPE),
            unavailable={field: refusal.reason for field, refusal in refusals.items()},
            **(card | system),
        )

    def sample(self) -> Sample:
        """Read the sensors that the card has."""
        t_ns = time.perf_counter_ns()
        sensors = tuple(query for query in _SENSORS if not self._is_in_vain(query.field))
        values, refusals = _ask(self._nvml, sensors, self._handle)
        for field in values:
            self._refusals.pop(field, None)
        self._refusals |= refusals
        if "energy_j" in values:
            if self._first_energy_j is None:
                self._first_energy_j = values["energy_j"]
            values["energy_j"] -= self._first_energy_j
        return Sample(t_ns=t_ns, own_utilisation_share=self._own_utilisation_share(), **values)

    def close(self) -> None:
        """Close NVML."""
        self._nvml.close()

    def _is_in_vain(self, field: str) -> bool:
        refusal = self._refusals.get(field)
        return refusal is not None and refusal.final

    def _own_utilisation_share(self) -> float | None:
        """Return this process's share of the card's time, once NVML has shown that it sees this process.

        In a container NVML may list processes by numbers of the host, where "not listed" does not mean idle.
        """
        if self._is_in_vain("own_utilisation_share"):
            return None
        function = "nvmlDeviceGetProcessUtilization"
        try:
            entries = self._nvml.call(function, self._handle, self._own_last_us)
        except NvmlError as error:
            self._refusals["own_utilisation_share"] = _refusal(function, error)
            return None
        own = [entry.smUtil for entry in entries if entry.pid == self._pid]
        self._own_last_us = max([self._own_last_us, *(entry.timeStamp for entry in entries)])
        self._own_seen = self._own_seen or bool(own)
        if not self._own_seen:
            self._refusals["own_utilisation_share"] = _Refusal("NVML does not list this process", final=False)
            return None
        self._refusals.pop("own_utilisation_share", None)
        return min(1.0, sum(own) / len(own) / 100) if own else 0.0


def _ask(nvml: Nvml, queries: tuple[_Query, ...], *handle: Any) -> tuple[dict[str, Any], dict[str, _Refusal]]:
    """Return the answers by field, and for each field without an answer the reason."""
    values: dict[str, Any] = {}
    refusals: dict[str, _Refusal] = {}
    for query in queries:
        try:
            value = query.convert(nvml.call(query.function, *handle, *query.args))
        except NvmlError as error:
            refusals[query.field] = _refusal(query.function, error)
            continue
        if value is None:
            refusals[query.field] = _Refusal(f"{query.function} answers, but gives no reading", final=False)
        else:
            values[query.field] = value
    return values, refusals


def _refusal(function: str, error: NvmlError) -> _Refusal:
    return _Refusal(f"{function}: {error}", final=error.code in _FINAL)
