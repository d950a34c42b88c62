"""Samples the devices while a run goes on, and says afterwards what they did while it trained."""

import dataclasses
import datetime
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from steptime.device.cpu import Cpu
from steptime.device.device import Device, DeviceFacts
from steptime.device.find import find_gpus, open_gpu
from steptime.device.sampler import Sampler
from steptime.device.series import device_names, summarise
from steptime.errors import DeviceError
from steptime.record.files import write_arrays
from steptime.record.schema import DeviceUse

# Short epochs must not copy all readings again and again.
_SHOW_INTERVAL_S = 10.0
# Sensors whose absence a person may want to have explained.
_SENSORS = ("utilisation_share", "power_w", "energy_j", "temperature_c", "clock_mhz", "throttle_reasons")


class DeviceWatch:
    """Samples the devices of a run between ``__enter__`` and ``__exit__``: while it trains.

    Args:
        devices: The CPU, and the GPU that was taken.
        interval_s: Seconds between two samples.
        tensorboard: Folder of the TensorBoard run that receives the readings.
    """

    def __init__(self, devices: tuple[Device, ...], interval_s: float, tensorboard: Path) -> None:
        self._devices = devices
        self._facts: dict[str, DeviceFacts] = {device.name: device.describe() for device in devices}
        self._sampler = Sampler(devices, interval_s)
        self._board = _DeviceBoard(tensorboard)

        self._shown_s = time.perf_counter()

    def __enter__(self) -> Self:
        self._sampler.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sampler.__exit__(kind, error, trace)
        self._board.write(self._sampler.series())
        self._board.close()
        for device in self._devices:
            device.close()

    def show(self) -> None:
        """Write the readings so far to TensorBoard, unless it was just done; called at ends of epochs."""
        now_s = time.perf_counter()
        if now_s - self._shown_s > _SHOW_INTERVAL_S:
            self._shown_s = now_s
            self._board.write(self._sampler.series())

    def conclude(self, path: Path, origin_ns: int) -> dict[str, Any]:
        """Write the samples and return what the record says of them.

        Args:
            path: The npz file.
            origin_ns: When the process was started; times in the file are from there.
        """
        series = self._sampler.series()
        write_arrays(path, {k: v - origin_ns if k.endswith(".t_ns") else v for k, v in series.items()})
        uses = (
            DeviceUse(name=name, **dataclasses.asdict(summarise(series, name)))
            for name in device_names(series)
        )
        return {"devices": tuple(uses), "sampling_s": self._sampler.cost_s}

    def missing(self) -> dict[str, str]:
        """Return the sensors that cannot be read, and why."""
        return {
            f"devices.{name}.{sensor}": reason
            for name, facts in self._facts.items()
            for sensor, reason in facts.unavailable.items()
            if sensor in _SENSORS
        }


def open_devices(device: str) -> tuple[tuple[Device, ...], dict[str, str]]:
    """Open the CPU and the GPU that this process sees.

    Args:
        device: ``cpu`` or ``gpu:N``, what the run took. A worker sees no other GPU than its own.

    Returns:
        The devices, and what could not be opened with the reason.
    """
    cpu = Cpu()
    if device == "cpu":
        return (cpu,), {}
    usable = find_gpus().usable
    if len(usable) != 1:
        return (cpu,), {
            "devices.gpu": f"{len(usable)} usable GPUs are visible to the run, where one is expected"
        }
    try:
        return (cpu, open_gpu(usable[0])), {}
    except DeviceError as error:
        return (cpu,), {"devices.gpu": error.message}


class _DeviceBoard:
    """Writes readings as TensorBoard scalars with their own times, without any TensorFlow op."""

    def __init__(self, folder: Path) -> None:
        self._writer = EventFileWriter(str(folder))
        self._rows: dict[str, int] = {}
        self._wall_offset_s = datetime.datetime.now(datetime.UTC).timestamp() - time.perf_counter()

    def write(self, series: Mapping[str, "np.ndarray[Any, Any]"]) -> None:
        for name in device_names(series):
            t_ns = series[f"{name}.t_ns"]
            first = self._rows.get(name, 0)
            for row in range(first, len(t_ns)):
                values = {
                    key: float(column[row])
                    for key, column in series.items()
                    if key.startswith(f"{name}.") and not key.endswith(".t_ns") and np.isfinite(column[row])
                }
                self._add(float(t_ns[row]) / 1e9, row, values)
            self._rows[name] = len(t_ns)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()

    def _add(self, t_s: float, step: int, values: Mapping[str, float]) -> None:
        summary = Summary(
            value=[Summary.Value(tag=f"device/{key}", simple_value=value) for key, value in values.items()]
        )
        self._writer.add_event(Event(wall_time=t_s + self._wall_offset_s, step=step, summary=summary))
