"""Digests a trace of a few steps: time by type of operation and by layer, launches, gaps, copies, a picture."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from steptime.engine.timing.groups import group_of
from steptime.record.operations import (
    OPERATIONS_VERSION,
    Bar,
    Busy,
    Copy,
    KindTime,
    LayerTime,
    NodeTime,
    Operations,
)
from steptime.worker.owners import Owners, inside
from steptime.worker.planes import Event, Trace

_MOST_NODES = 200
_MOST_BARS = 400
# From this on the host's work for starting an operation no longer matters beside it.
_SMALL_NS = 10_000
# These hold others, whose times would be counted twice.
_HOLDERS = frozenset(
    (
        *("PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "If", "StatelessIf"),
        *("XlaLaunch", "_XlaRun"),
    )
)
# A function that is called by its name encloses what it does too.
_FUNCTIONS = ("__inference_", "__forward_", "__backward_")
_OUTSIDE = {"update": "(optimizer)", "loss": "(loss)", "input": "(input)", "other": "(other)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one operation of the graph computes and moves a step; None when a shape is not known."""

    flops: int | None
    bytes: int | None


@dataclass(slots=True)
class _Sum:
    time_ns: float = 0.0
    count: int = 0


def digest(
    trace: Trace, steps: int, *, layers: Mapping[str, str], optimizer: str, work: Mapping[str, Work]
) -> Operations:
    """Digest a trace.

    Args:
        trace: The trace, with at least one marked stretch.
        steps: Steps in all marked stretches.
        layers: Class of each layer by name, in the order of the model.
        optimizer: Name of the optimizer.
        work: What each operation of the graph computes and moves, by name.
    """
    events = [
        event
        for event in trace.events
        if event.kind not in _HOLDERS and not event.kind.startswith(_FUNCTIONS)
    ]
    computing = [event for event in events if event.copy is None]
    owners = Owners(layers, {event.name for event in computing} | set(work), optimizer)
    return Operations(
        schema_version=OPERATIONS_VERSION,
        steps=steps,
        step_s=sum(end - begin for begin, end in trace.windows) / 1e9 / steps,
        kinds=_kinds(computing, steps),
        layers=_layers(computing, steps, layers, owners),
        nodes=_nodes(computing, steps, owners, work),
        busy=_busy(events, trace.windows, steps),
        copies=_copies(events, steps),
        timeline=_timeline(events, trace.windows, owners),
    )


def _kinds(events: Sequence[Event], steps: int) -> tuple[KindTime, ...]:
    times = (
        KindTime(
            kind=kind,
            group=group_of(kind),
            device=device,
            count=total.count / steps,
            time_s=total.time_ns / 1e9 / steps,
        )
        for (kind, device), total in _summed(events, lambda event: (event.kind, event.device)).items()
    )
    return tuple(sorted(times, key=lambda item: -item.time_s))


def _layers(
    events: Sequence[Event], steps: int, layers: Mapping[str, str], owners: Owners
) -> tuple[LayerTime, ...]:
    def place(event: Event) -> tuple[str, ...]:
        owner = owners.of(event.name, group_of(event.kind))
        layer = owner.layer or _OUTSIDE.get(owner.role, _OUTSIDE["other"])
        return layer, event.device, "backward" if owner.role == "backward" else "forward"

    totals = _summed(events, place)
    order = {name: number for number, name in enumerate((*layers, *_OUTSIDE.values()))}
    places = sorted(
        {(layer, device) for layer, device, _ in totals}, key=lambda item: (order[item[0]], item[1])
    )
    return tuple(
        LayerTime(
            layer=layer,
            kind=layers.get(layer, ""),
            device=device,
            forward_s=totals[layer, device, "forward"].time_ns / 1e9 / steps,
            backward_s=totals[layer, device, "backward"].time_ns / 1e9 / steps,
            count=sum(totals[layer, device, way].count for way in ("forward", "backward")) / steps,
        )
        for layer, device in places
    )


def _nodes(
    events: Sequence[Event], steps: int, owners: Owners, work: Mapping[str, Work]
) -> tuple[NodeTime, ...]:
    known = _WorkByName(work)
    totals = _summed(events, lambda event: (inside(event.name), event.kind, event.device))
    longest = sorted(totals.items(), key=lambda item: -item[1].time_ns)[:_MOST_NODES]
    nodes = []
    for (name, kind, device), total in longest:
        owner = owners.of(name, group_of(kind))
        done = known.of(name, kind)
        nodes.append(
            NodeTime(
                name=name,
                kind=kind,
                group=group_of(kind),
                layer=owner.layer,
                role=owner.role,
                device=device,
                count=total.count / steps,
                time_s=total.time_ns / 1e9 / steps,
                flops=done.flops,
                bytes=done.bytes,
            )
        )
    return tuple(nodes)


class _WorkByName:
    """Finds the work of an executed operation, which TensorFlow may have fused from several of the graph."""

    def __init__(self, work: Mapping[str, Work]) -> None:
        self._work = work
        self._scopes: dict[str, list[Work]] = defaultdict(list)
        for name, item in work.items():
            self._scopes[_scope(name)].append(item)
            self._scopes[_scope(_scope(name))].append(item)

    def of(self, name: str, kind: str) -> Work:
        if kind.startswith("_Fused"):
            # Named after the last of the operations it was made of; the heavy one is in the same scope.
            flops = [item.flops for item in self._scopes[_scope(name)] if item.flops is not None]
            own = self._work.get(name)
            return Work(flops=max(flops, default=None), bytes=own.bytes if own else None)
        return self._work.get(name, Work(flops=None, bytes=None))


def _scope(name: str) -> str:
    return name.rpartition("/")[0]


def _busy(events: Sequence[Event], windows: Sequence[tuple[float, float]], steps: int) -> tuple[Busy, ...]:
    found = []
    for device in sorted({event.device for event in events}):
        # Reading a batch is mostly waiting for it.
        own = [event for event in events if event.device == device and group_of(event.kind) != "input"]
        launched = [event for event in own if event.copy is None]
        stretches = _union((event.begin_ns, event.end_ns) for event in own)
        gaps = [gap for begin, end in windows for gap in _gaps(stretches, begin, end)]
        found.append(
            Busy(
                device=device,
                lanes=len({event.lane for event in own}),
                busy_s=(sum(end - begin for begin, end in windows) - sum(gaps)) / 1e9 / steps,
                idle_s=sum(gaps) / 1e9 / steps,
                longest_gap_s=max(gaps, default=0.0) / 1e9,
                gaps=len(gaps) / steps,
                launches=len(launched) / steps,
                small_launches=sum(e.end_ns - e.begin_ns < _SMALL_NS for e in launched) / steps,
            )
        )
    return tuple(found)


def _union(stretches: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Join stretches that overlap; the result is in order."""
    joined: list[tuple[float, float]] = []
    for begin, end in sorted(stretches):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def _gaps(stretches: Sequence[tuple[float, float]], begin: float, end: float) -> list[float]:
    """Return the lengths of what the stretches leave uncovered between ``begin`` and ``end``."""
    gaps, reached = [], begin
    for first, last in stretches:
        if last <= begin or first >= end:
            continue
        if first > reached:
            gaps.append(first - reached)
        reached = max(reached, last)
    return [*gaps, end - reached] if end > reached else gaps


def _copies(events: Sequence[Event], steps: int) -> tuple[Copy, ...]:
    copies: dict[tuple[str, str | None], list[Event]] = defaultdict(list)
    for event in events:
        if event.copy is not None:
            copies[event.copy, event.copy_memory].append(event)
    return tuple(
        Copy(
            kind=way,
            memory=memory,
            count=len(own) / steps,
            bytes=sum(event.copy_bytes for event in own) / steps,
            time_s=sum(event.end_ns - event.begin_ns for event in own) / 1e9 / steps,
        )
        for (way, memory), own in copies.items()
    )


def _timeline(
    events: Sequence[Event], windows: Sequence[tuple[float, float]], owners: Owners
) -> tuple[Bar, ...]:
    """Bars of the last marked stretch, from its beginning until there are enough."""
    if not windows:
        return ()
    begin_ns, end_ns = windows[-1]
    shown = [event for event in events if begin_ns <= event.begin_ns < end_ns][:_MOST_BARS]
    return tuple(
        Bar(
            lane=event.lane if event.device == "host" else f"{event.device} {event.lane}",
            name=event.kind,
            group=group_of(event.kind) if event.copy is None else "memory",
            layer=owners.of(event.name, group_of(event.kind)).layer,
            begin_s=(event.begin_ns - begin_ns) / 1e9,
            duration_s=(event.end_ns - event.begin_ns) / 1e9,
        )
        for event in shown
    )


def _summed(events: Iterable[Event], key: Callable[[Event], tuple[str, ...]]) -> dict[tuple[str, ...], _Sum]:
    sums: dict[tuple[str, ...], _Sum] = defaultdict(_Sum)
    for event in events:
        item = sums[key(event)]
        item.time_ns += event.end_ns - event.begin_ns
        item.count += 1
    return sums
