"""A thread that samples devices while a run goes on, at little cost to it."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from steptime.device.device import Device, Sample
from steptime.device.series import SLOWDOWNS

_QUANTITIES = tuple(field.name for field in fields(Sample) if field.name not in ("t_ns", "throttle_reasons"))
_FIRST_ROWS = 256

OnSample = Callable[[str, Sample], None]


class Sampler:
    """Samples devices at a steady rate between ``__enter__`` and ``__exit__``.

    Readings are held in arrays that double when full; nothing is written to disk. A reading that comes late
    is not made up for, so that a busy machine is not made busier.

    Args:
        devices: What to sample; they are not closed here.
        interval_s: Seconds between two samples.
        on_sample: Called in the sampling thread with the device's name and each sample. If it raises, it is
            not called again and `problem` says why; the training goes on.
    """

    def __init__(
        self, devices: Sequence[Device], interval_s: float = 0.2, on_sample: OnSample | None = None
    ) -> None:
        self._tracks = [_Track(device) for device in devices]
        self._interval_s = interval_s
        self._on_sample = on_sample
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="steptime-sampler", daemon=True)
        self._lock = threading.Lock()
        self._cost_ns = 0
        self.problem: str | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._sample_all()

    @property
    def cost_s(self) -> float:
        """Processor seconds that sampling has taken so far."""
        return self._cost_ns / 1e9

    def series(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return copies of all readings so far, in the form that `steptime.device.series` describes.

        Quantities that were never known are left out.
        """
        with self._lock:
            return {key: values for track in self._tracks for key, values in track.columns().items()}

    def _run(self) -> None:
        due_s = time.perf_counter()
        while True:
            self._sample_all()
            now_s = time.perf_counter()
            due_s += self._interval_s
            if due_s < now_s:
                due_s = now_s + self._interval_s
            if self._stop.wait(due_s - now_s):
                return

    def _sample_all(self) -> None:
        start_ns = time.thread_time_ns()
        for track in self._tracks:
            sample = track.device.sample()
            with self._lock:
                track.append(sample)
            self._tell(track.device.name, sample)
        self._cost_ns += time.thread_time_ns() - start_ns

    def _tell(self, name: str, sample: Sample) -> None:
        if self._on_sample is None:
            return
        try:
            self._on_sample(name, sample)
        except Exception as error:  # noqa: BLE001 - a fault in a listener must not end the sampling
            self._on_sample = None
            self.problem = f"the listener for samples failed and was switched off: {error!r}"


class _Track:
    """The readings of one device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._rows = 0
        self._t_ns = np.empty(_FIRST_ROWS, dtype=np.int64)
        self._values = np.empty((_FIRST_ROWS, len(_QUANTITIES)), dtype=np.float64)
        self._reasons: list[tuple[str, ...] | None] = []

    def append(self, sample: Sample) -> None:
        if self._rows == len(self._t_ns):
            self._t_ns = np.concatenate([self._t_ns, np.empty_like(self._t_ns)])
            self._values = np.concatenate([self._values, np.empty_like(self._values)])
        self._t_ns[self._rows] = sample.t_ns
        # numpy turns None into NaN.
        self._values[self._rows] = [getattr(sample, quantity) for quantity in _QUANTITIES]
        self._reasons.append(sample.throttle_reasons)
        self._rows += 1

    def columns(self) -> dict[str, npt.NDArray[np.generic]]:
        name = self.device.name
        columns: dict[str, npt.NDArray[np.generic]] = {f"{name}.t_ns": self._t_ns[: self._rows].copy()}
        for place, quantity in enumerate(_QUANTITIES):
            column = self._values[: self._rows, place]
            if np.isfinite(column).any():
                columns[f"{name}.{quantity}"] = column.copy()
        if any(reasons is not None for reasons in self._reasons):
            columns[f"{name}.throttled"] = self._flags(SLOWDOWNS)
            for reason in sorted({reason for reasons in self._reasons for reason in reasons or ()}):
                columns[f"{name}.throttle.{reason}"] = self._flags((reason,))
        return columns

    def _flags(self, wanted: tuple[str, ...]) -> npt.NDArray[np.float64]:
        """Return 1 where any of the wanted reasons held, 0 where none did, NaN where nothing is known."""
        return np.array(
            [
                np.nan if reasons is None else float(any(reason in wanted for reason in reasons))
                for reasons in self._reasons
            ]
        )
