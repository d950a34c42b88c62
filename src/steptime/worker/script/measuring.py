"""What all ``fit`` calls of a script share: where records go, the samples of the devices, the surroundings."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import tensorflow as tf

from steptime.device.device import Device
from steptime.device.find import find_gpus, open_gpu
from steptime.device.sampler import Sampler
from steptime.device.series import device_names, summarise
from steptime.errors import DeviceError
from steptime.plan.plan import Plan
from steptime.record.files import write_arrays
from steptime.record.schema import DeviceUse, Environment, Memory
from steptime.record.store import DEVICE_FILE
from steptime.worker.proof import has_compute_ops, short_device
from steptime.worker.script.inspection import Inspection
from steptime.worker.surroundings import describe_surroundings, peak_device_bytes, peak_process_bytes


class Measuring:
    """The measurements of one script, from its import of TensorFlow on.

    Args:
        folder: Run folder of the script.
        plan: Its plan.
        created: When it was planned.
        origin_ns: When its process was started, on the clock of ``perf_counter_ns``.
        source: The file that holds it.
    """

    def __init__(self, folder: Path, plan: Plan, created: str, origin_ns: int, source: Path) -> None:
        self.folder = folder
        self.plan = plan
        self.created = created
        self.origin_ns = origin_ns
        self.unavailable: dict[str, str] = {}
        self._source = source
        self.inspection = Inspection()
        self._numbers = itertools.count(1)
        self._environment: Environment | None = None
        # Model -> loop and device -> graphs; forgotten with the model.
        self._graphs: WeakKeyDictionary[Any, dict[tuple[str, str], tuple[Any, ...]]] = WeakKeyDictionary()
        self._devices = self._open_devices()
        self._sampler = Sampler(self._devices, plan.protocol.sample_interval_s)
        self._sampler.__enter__()

    def _open_devices(self) -> tuple[Device, ...]:
        from steptime.device.cpu import Cpu

        devices: list[Device] = [Cpu()]
        if self.plan.placement is not None and self.plan.placement.device == "cpu":
            return tuple(devices)
        for gpu in find_gpus().usable:
            try:
                devices.append(open_gpu(gpu))
            except DeviceError as error:
                self.unavailable[f"devices.{gpu.facts.name}"] = error.message
        return tuple(devices)

    def next_number(self) -> int:
        """Return the number of the call that begins now, from 1."""
        return next(self._numbers)

    def with_earlier_graphs(
        self, model: Any, loop: str, device: str, graphs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Return the graphs in which a model's steps run: those of earlier calls, and the call's own.

        TensorFlow keeps a graph only the first time it runs, so a later call has the step's graph from an earlier one.
        What it leaves itself are graphs that make its data set, or those of what it was first to run, such as a
        validation.
        """
        earlier = self._graphs.setdefault(model, {})
        known = earlier.get((loop, device), ())
        earlier[loop, device] = (*known, *graphs) if has_compute_ops(graphs) else known or graphs
        return earlier[loop, device]

    def environment(self) -> Environment:
        """Return what the script runs on; gathered once."""
        if self._environment is None:
            self._environment = describe_surroundings(self._source)
        return self._environment

    def place(self) -> tuple[str, str]:
        """Return the device on which operations run that name none, and why that one."""
        gpus = tf.config.list_logical_devices("GPU")
        placement = self.plan.placement
        if not gpus:
            reason = "TensorFlow sees no GPU"
            if placement is not None and placement.device == "cpu":
                reason = placement.reason
            elif placement is not None:
                reason = f"{placement.device} is there, but {reason}"
            return "cpu", reason
        if placement is not None and placement.device != "cpu":
            return placement.device, placement.reason
        return "gpu:0", f"TensorFlow sees {len(gpus)} GPU"

    def devices_between(self, begin_ns: int, end_ns: int) -> tuple[dict[str, Any], tuple[DeviceUse, ...]]:
        """Return the samples between two moments, times from the start of the process, and their summaries."""
        series = self._sampler.series()
        names = device_names(series)
        uses = tuple(
            DeviceUse(
                name=name,
                **dataclasses.asdict(summarise(series, name, start_ns=begin_ns, end_ns=end_ns)),
            )
            for name in names
        )
        kept: dict[str, Any] = {}
        for name in names:
            t_ns: Any = series[f"{name}.t_ns"]
            inside = (t_ns >= begin_ns) & (t_ns <= end_ns)
            for key, values in series.items():
                if key.startswith(f"{name}."):
                    kept[key] = values[inside] - (self.origin_ns if key.endswith(".t_ns") else 0)
        return kept, uses

    def conclude(self, now_ns: int) -> dict[str, Any]:
        """Stop sampling, and return what the record of the whole script says of devices and surroundings."""
        self._sampler.__exit__(None, None, None)
        series, uses = self.devices_between(0, now_ns)
        write_arrays(self.folder / DEVICE_FILE, series)
        for device in self._devices:
            device.close()
        device_bytes, why_not = peak_device_bytes(default_device())
        if why_not:
            self.unavailable["memory.peak_device_bytes"] = why_not
        name, reason = self.place()
        return {
            "device": name,
            "device_reason": reason,
            "environment": self.environment(),
            "devices": uses,
            "sampling_s": self._sampler.cost_s,
            "memory": Memory(peak_process_bytes=peak_process_bytes(), peak_device_bytes=device_bytes),
        }


def default_device() -> str:
    """Return where an operation runs now that names no device, such as ``GPU:0``."""
    return short_device(tf.zeros(()).device)
