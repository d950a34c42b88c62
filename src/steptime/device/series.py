"""Turns a run's device samples into a few figures: means, peaks, energy, other work, throttling.

A series is a dictionary of one-dimensional arrays, as `numpy.savez` writes and
``numpy.load(allow_pickle=False)`` reads it. Keys are ``<device>.<quantity>``: ``cpu.t_ns``, ``gpu0.power_w``,
``gpu0.throttle.power_cap``. All arrays of a device have the same length; ``NaN`` stands for a reading that is
not known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# The card or processor works below what was asked of it. A power cap is left out: at full load it is the
# normal state of many cards, and its share is told apart.
SLOWDOWNS = ("cpu_quota", "thermal", "hw_slowdown", "sw_thermal", "hw_thermal", "power_brake")

# Below this utilisation a device counts as idle: a display or the sampler itself keeps it above 0.
IDLE_SHARE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSummary:
    """Figures of one device over a span of time; ``None`` where nothing was readable.

    Attributes:
        samples: Number of samples in the span.
        utilisation_share: Mean over time.
        own_utilisation_share: Mean over time of the measured process's part.
        other_work_share: Mean over time of what others did: utilisation less the process's own part.
        memory_peak_bytes: Greatest reading; peaks between two samples are missed.
        power_mean_w: Energy divided by time.
        energy_j: Energy used in the span.
        energy_source: Whether the hardware counted it or power readings were integrated.
        energy_idle_j: The part of it that was spent while the device was idle.
        temperature_peak_c: Greatest reading.
        clock_mean_mhz: Mean over time.
        throttled_share: Share of time in which the device was slowed down, by one of `SLOWDOWNS`.
        throttle_shares: Share of time for each reason that was seen.
    """

    samples: int
    utilisation_share: float | None
    own_utilisation_share: float | None
    other_work_share: float | None
    memory_peak_bytes: int | None
    power_mean_w: float | None
    energy_j: float | None
    energy_source: Literal["counter", "integrated from samples"] | None
    energy_idle_j: float | None
    temperature_peak_c: float | None
    clock_mean_mhz: float | None
    throttled_share: float | None
    throttle_shares: dict[str, float]


def device_names(series: Mapping[str, npt.NDArray[np.generic]]) -> tuple[str, ...]:
    """Return the devices that a series holds, in alphabetical order."""
    return tuple(sorted(key.removesuffix(".t_ns") for key in series if key.endswith(".t_ns")))


def summarise(
    series: Mapping[str, npt.NDArray[np.generic]],
    device: str,
    *,
    start_ns: int | None = None,
    end_ns: int | None = None,
) -> DeviceSummary:
    """Summarise one device's samples between two moments.

    Args:
        series: What `Sampler.series` returned or a record holds.
        device: One of `device_names`.
        start_ns: Begin of the span on the clock of ``perf_counter_ns``; the first sample if left out.
        end_ns: End of the span; the last sample if left out.
    """
    t_ns = np.asarray(series[f"{device}.t_ns"], dtype=np.int64)
    inside = np.ones(len(t_ns), dtype=bool)
    inside &= True if start_ns is None else t_ns >= start_ns
    inside &= True if end_ns is None else t_ns <= end_ns
    columns = {
        key.removeprefix(f"{device}."): np.asarray(values[inside], dtype=np.float64)
        for key, values in series.items()
        if key.startswith(f"{device}.") and not key.endswith(".t_ns")
    }
    # The first moment is subtracted as an integer: 2**53 ns are only 104 days.
    kept_ns = t_ns[inside]
    t_s = (kept_ns - kept_ns[:1]) / 1e9
    busy, own = columns.get("utilisation_share"), columns.get("own_utilisation_share")
    # Both are counted in ticks of 10 ms, so single differences are noise and only their mean is cut at 0.
    other_share = None if busy is None or own is None else _mean(busy - own)
    energy_j, source = _energy(columns, t_s)
    power = columns.get("power_w")
    span_s = float(t_s[-1]) if len(t_s) else 0.0
    reasons = {
        key.removeprefix("throttle."): values
        for key, values in columns.items()
        if key.startswith("throttle.")
    }
    return DeviceSummary(
        samples=len(t_s),
        utilisation_share=_mean(busy),
        own_utilisation_share=_mean(own),
        other_work_share=None if other_share is None else max(0.0, other_share),
        memory_peak_bytes=_peak_bytes(columns.get("memory_used_bytes")),
        power_mean_w=energy_j / span_s if energy_j is not None and span_s > 0 else None,
        energy_j=energy_j,
        energy_source=source,
        energy_idle_j=_idle_energy_j(busy, power, t_s),
        temperature_peak_c=_peak(columns.get("temperature_c")),
        clock_mean_mhz=_mean(columns.get("clock_mhz")),
        throttled_share=_mean(columns.get("throttled")),
        throttle_shares={name: mean for name, values in reasons.items() if (mean := _mean(values))},
    )


def integrate(values: Array, t_s: Array) -> float | None:
    """Integrate readings over time by the trapezoidal rule, passing over unknown ones.

    Args:
        values: Readings, shape (n,); ``NaN`` where unknown.
        t_s: Their times in seconds, shape (n,), not decreasing.

    Returns:
        The integral, or ``None`` with fewer than two readings.
    """
    known = np.isfinite(values)
    if known.sum() < 2:
        return None
    values, t_s = values[known], t_s[known]
    return float(np.sum(np.diff(t_s) * (values[1:] + values[:-1]) / 2))


def _energy(
    columns: Mapping[str, Array], t_s: Array
) -> tuple[float | None, Literal["counter", "integrated from samples"] | None]:
    counted = columns.get("energy_j")
    if counted is not None:
        counted = counted[np.isfinite(counted)]
        if len(counted) >= 2:
            return float(counted[-1] - counted[0]), "counter"
    power = columns.get("power_w")
    energy_j = None if power is None else integrate(power, t_s)
    return energy_j, None if energy_j is None else "integrated from samples"


def _idle_energy_j(busy: Array | None, power: Array | None, t_s: Array) -> float | None:
    if busy is None or power is None or not np.any(np.isfinite(busy) & np.isfinite(power)):
        return None
    return integrate(np.where(busy < IDLE_SHARE, power, np.where(np.isfinite(busy), 0.0, np.nan)), t_s)


def _mean(values: Array | None) -> float | None:
    known = None if values is None else values[np.isfinite(values)]
    return float(known.mean()) if known is not None and len(known) else None


def _peak(values: Array | None) -> float | None:
    known = None if values is None else values[np.isfinite(values)]
    return float(known.max()) if known is not None and len(known) else None


def _peak_bytes(values: Array | None) -> int | None:
    peak = _peak(values)
    return None if peak is None else int(peak)
