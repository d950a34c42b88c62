"""Where the time of a few traced steps went: ops.json, read without TensorFlow.

History of the schema:
    1  first version
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steptime.plan.codec import to_json
from steptime.record.documented import described
from steptime.record.files import write_json
from steptime.record.versioned import read_versioned

OPERATIONS_FILE = "ops.json"
OPERATIONS_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTime:
    """All operations of one type on one device."""

    kind: str = described(
        "TensorFlow's type of operation, such as Conv2D; of a GPU kernel without one, its name"
    )
    group: str = described(
        "matmul, convolution, elementwise, reduction, memory, random, input, control or other"
    )
    device: str = described("host or gpu:N")
    count: float = described("executed a step")
    time_s: float = described("seconds a step; operations that run at once both count")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTime:
    """One operation of the graph on one device."""

    name: str = described("its name, which starts with the layer's")
    kind: str = described("its type")
    group: str = described("as of KindTime")
    layer: str | None = described("the layer it belongs to; null outside layers")
    role: str = described("forward, backward, update, loss, metrics, input or other")
    device: str = described("host or gpu:N")
    count: float = described("executed a step")
    time_s: float = described("seconds a step")
    flops: float | None = described(
        "floating-point operations a step; null when its shapes are not known", default=None
    )
    bytes: float | None = described(
        "bytes read and written a step; null when its shapes are not known", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTime:
    """One layer of the model, or what belongs to none: optimizer, loss, metrics, input, other."""

    layer: str = described("name of the layer, or (optimizer), (loss), (metrics), (input), (other)")
    kind: str = described("its class; empty outside layers")
    device: str = described("host or gpu:N")
    forward_s: float = described("seconds a step in the forward pass, or in what is not a layer")
    backward_s: float = described("seconds a step in the backward pass")
    count: float = described("operations a step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """How one device was occupied in the traced steps."""

    device: str = described("host or gpu:N")
    lanes: int = described("threads or streams on which operations ran")
    busy_s: float = described("seconds a step in which at least one operation ran")
    idle_s: float = described("seconds a step in which none ran")
    longest_gap_s: float = described("the longest stretch without any")
    gaps: float = described("stretches a step without any")
    launches: float = described(
        "kernels (GPU), or operations (host) started a step; TensorFlow does not trace operations on the host that"
        " take less than about 8000 cycles: profile.json counts all in counts.operations"
    )
    small_launches: float = described("those of them that took less than 10 µs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """Copies of one kind between memories."""

    kind: str = described("host to device, device to host, device to device or peer to peer")
    memory: str | None = described("pageable or pinned; null when the trace does not tell")
    count: float = described("copies a step")
    bytes: float = described("bytes a step")
    time_s: float = described("seconds a step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One operation in the picture of a few steps."""

    lane: str = described("thread or stream")
    name: str = described("type of the operation, or name of the stretch")
    group: str = described("as of KindTime; step for a whole step")
    layer: str | None = described("its layer; null outside layers")
    begin_s: float = described("since the beginning of the picture")
    duration_s: float = described("how long it took")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """The digest of a trace."""

    schema_version: int = described("version of this schema")
    steps: int = described("steps traced")
    step_s: float = described("seconds a step while the profiler ran")
    kinds: tuple[KindTime, ...] = described("time by type of operation, the longest first")
    layers: tuple[LayerTime, ...] = described("time by layer, in the order of the model")
    nodes: tuple[NodeTime, ...] = described(
        "the operations that took longest, at most 200, the longest first"
    )
    busy: tuple[Busy, ...] = described("how each device was occupied")
    copies: tuple[Copy, ...] = described("copies between memories; empty when there were none", default=())
    timeline: tuple[Bar, ...] = described("a few steps as bars, at most 400", default=())
    unavailable: Mapping[str, str] = described("what the trace does not tell, and why", default_factory=dict)


SECTIONS: tuple[type, ...] = (Operations, KindTime, LayerTime, NodeTime, Busy, Copy, Bar)


def write_operations(folder: Path, operations: Operations) -> None:
    """Write ``ops.json``, by rename."""
    write_json(folder / OPERATIONS_FILE, to_json(operations))


def read_operations(folder: Path) -> Operations | None:
    """Return the digest of a run's trace; None when there is none.

    Raises:
        RecordError: The file is damaged, or another version wrote it.
    """
    return read_versioned(Operations, folder / OPERATIONS_FILE, OPERATIONS_VERSION)
