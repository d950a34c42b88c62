"""Reads TensorFlow's trace format, XSpace, into plain events.

Only the fields of the protocol buffer are used, so that a trace that was recorded elsewhere, or made by hand,
reads alike. Source of the names: tensorflow/tsl/profiler/protobuf/xplane.proto and
tensorflow/core/profiler/backends/gpu/cupti_collector.cc of TensorFlow 2.21.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# A trace's name of a whole step; worker/tracing.py marks steps with it.
STEP_EVENT = "train"
_GPU_PLANE = re.compile(r"/device:GPU:(\d+)")
# Lines of a GPU plane that viewers derive from the others.
_DERIVED = (
    "XLA Modules",
    "XLA Ops",
    "Steps",
    "TensorFlow Ops",
    "TensorFlow Name Scope",
    "Launch Stats",
    "Source",
)
_OPERATION = re.compile(r"(?P<name>[^:]+(?:/[^:]+)*):(?P<kind>[A-Za-z_][A-Za-z0-9_]*)")
# XLA's operations that enclose others, whose times would be counted twice.
_ENCLOSING = re.compile(r"(while|call|conditional)[.\d]*|__inference_.*")
_READ = re.compile(r"(IteratorGetNext\w*)Op::DoCompute")
_COPY = re.compile(r"Memcpy(?P<way>H2D|D2H|D2D|P2P|HtoD|DtoH|DtoD|PtoP)")
_WAYS = {
    "H2D": "host to device", "HtoD": "host to device", "D2H": "device to host", "DtoH": "device to host",
    "D2D": "device to device", "DtoD": "device to device", "P2P": "peer to peer", "PtoP": "peer to peer",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that took time on a device.

    Attributes:
        device: host or gpu:N.
        lane: Thread or stream.
        name: Name of the operation in the graph; of a kernel without one, its own.
        kind: Type of the operation, of the kernel without one its name, or Memcpy.
        begin_ns: On the clock of the trace.
        end_ns: On the clock of the trace.
        copy: Of a copy: which way; None for anything else.
        copy_bytes: Of a copy: its size.
        copy_memory: Of a copy: pageable or pinned; None when the trace does not tell.
    """

    device: str
    lane: str
    name: str
    kind: str
    begin_ns: float
    end_ns: float
    copy: str | None = None
    copy_bytes: int = 0
    copy_memory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What a trace holds of the steps.

    Attributes:
        windows: (begin, end) of each marked stretch of steps, in ns.
        events: Operations, kernels and copies inside these, by begin.
    """

    windows: tuple[tuple[float, float], ...]
    events: tuple[Event, ...]


def read_trace(space: Any) -> Trace:
    """Read an XSpace.

    Args:
        space: A message of type XSpace.
    """
    windows: list[tuple[float, float]] = []
    events: list[Event] = []
    for plane in space.planes:
        match = _GPU_PLANE.fullmatch(plane.name)
        if match:
            events += _gpu_events(plane, f"gpu:{match[1]}")
        elif plane.name.startswith("/host:CPU"):
            windows += _windows(plane)
            events += _host_events(plane)
    windows.sort()
    if windows:
        begin, end = windows[0][0], max(window[1] for window in windows)
        events = [event for event in events if event.begin_ns >= begin and event.begin_ns < end]
    return Trace(windows=tuple(windows), events=tuple(sorted(events, key=lambda event: event.begin_ns)))


def _times(plane: Any) -> Iterator[tuple[Any, Any, Any, float, float]]:
    for line in plane.lines:
        for event in line.events:
            begin_ns = line.timestamp_ns + event.offset_ps / 1e3
            yield (
                line,
                plane.event_metadata[event.metadata_id],
                event,
                begin_ns,
                begin_ns + event.duration_ps / 1e3,
            )


def _windows(plane: Any) -> list[tuple[float, float]]:
    return [(begin, end) for _, metadata, _, begin, end in _times(plane) if metadata.name == STEP_EVENT]


def _host_events(plane: Any) -> Iterator[Event]:
    lanes: dict[int, str] = {}
    for line, metadata, event, begin_ns, end_ns in _times(plane):
        named = _host_name(metadata.name, plane, event)
        if named is None:
            continue
        lane = lanes.setdefault(line.id, f"thread {len(lanes) + 1}")
        name, kind = named
        yield Event(device="host", lane=lane, name=name, kind=kind, begin_ns=begin_ns, end_ns=end_ns)


def _host_name(text: str, plane: Any, event: Any) -> tuple[str, str] | None:
    """Name and type of the operation an event stands for; None when it stands for something else."""
    operation = _OPERATION.fullmatch(text)
    if operation:
        return operation["name"], operation["kind"]
    read = _READ.fullmatch(text)
    if read:
        return text, read[1]
    hlo = str(_stat(plane, event, "hlo_op") or "")
    return (hlo, _kind_of_hlo(hlo)) if hlo and not _ENCLOSING.fullmatch(hlo) else None


def _kind_of_hlo(hlo: str) -> str:
    """The type of XLA's operation: its name without its number."""
    return re.sub(r"[.\d]+$", "", hlo)


def _gpu_events(plane: Any, device: str) -> Iterator[Event]:
    for line, metadata, event, begin_ns, end_ns in _times(plane):
        lane = line.display_name or line.name
        if any(lane.startswith(name) for name in _DERIVED):
            continue
        copy = _COPY.search(metadata.name)
        if copy:
            yield _copied(plane, event, device, lane, _WAYS[copy["way"]], begin_ns, end_ns)
            continue
        operation = _OPERATION.fullmatch(str(_stat(plane, event, "tf_op") or ""))
        hlo = str(_stat(plane, event, "hlo_op") or "")
        if not operation and _ENCLOSING.fullmatch(hlo):
            continue
        kernel = metadata.display_name or metadata.name
        yield Event(
            device=device,
            lane=lane,
            name=operation["name"] if operation else hlo or kernel,
            kind=operation["kind"] if operation else _kind_of_hlo(hlo) or kernel[:80],
            begin_ns=begin_ns,
            end_ns=end_ns,
        )


def _copied(
    plane: Any, event: Any, device: str, lane: str, way: str, begin_ns: float, end_ns: float
) -> Event:
    details = str(_stat(plane, event, "memcpy_details") or "")
    size = re.search(r"size:(\d+)", details)
    memory = re.search(r"kind_(?:src|dst):(pageable|pinned)", details)
    return Event(
        device=device,
        lane=lane,
        name=way,
        kind="Memcpy",
        begin_ns=begin_ns,
        end_ns=end_ns,
        copy=way,
        copy_bytes=int(size[1]) if size else 0,
        copy_memory=memory[1] if memory else None,
    )


def _stat(plane: Any, event: Any, name: str) -> Any:
    """A property of an event or of its kind; text may be held by reference."""
    metadata = plane.event_metadata[event.metadata_id]
    for stat in (*event.stats, *metadata.stats):
        if plane.stat_metadata[stat.metadata_id].name == name:
            which = stat.WhichOneof("value")
            value = getattr(stat, which)
            return plane.stat_metadata[value].name if which == "ref_value" else value
    return None
