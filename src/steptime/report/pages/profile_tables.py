"""The tables of a profile: parts of the step, limits, timings, ops, layers, Python."""

from collections.abc import Iterator

from steptime import units
from steptime.analysis.anatomy import Span
from steptime.record.profile import Profile, Timing
from steptime.report.document import Heading, Table, Text
from steptime.report.pages.profiled import UNKNOWN, Profiled, part_name

_PLAIN = ("", "")
# What is written for a part that takes no time at all.
NOTHING = "none"
_BAR = 24
_ROWS = 15


def parts_table(profiled: Profiled, *, with_bars: bool = False) -> Table:
    """Return the parts of a step, in order; with bars for a terminal."""
    rows = []
    for part in profiled.anatomy.parts:
        cells = [part_name(part), _span(part.step_s), units.share(part.share)]
        rows.append((*cells, "#" * round(part.share * _BAR) if with_bars else part.how))
    last = "" if with_bars else "how it was derived"
    return Table(columns=("part of a step", "time", "share", last), rows=tuple(rows), right=(1, 2))


def limits_table(profiled: Profiled) -> Table:
    """Return what the step reached beside what this machine can reach."""
    anatomy, ceilings, profile = profiled.anatomy, profiled.ceilings, profiled.profile
    rows: list[tuple[str, str]] = []
    if anatomy.step_s and anatomy.best_step_s:
        times = anatomy.step_s.value / anatomy.best_step_s
        rows.append(
            (
                "at best on this machine",
                f"{units.seconds(anatomy.best_step_s)} a step, {times:.1f} times as fast ({anatomy.best_how})",
            )
        )
    if anatomy.flops_per_s:
        share = f", {units.share(anatomy.mfu_share)} of the ceiling" if anatomy.mfu_share is not None else ""
        rows.append(("arithmetic reached", f"{_flops(anatomy.flops_per_s)}{share}"))
    if anatomy.bytes_per_s:
        rows.append(
            ("memory traffic reached", f"{units.size_bytes(anatomy.bytes_per_s)}/s, without any cache")
        )
    if profile and profile.counts and profile.counts.step_flops:
        rows.append(("work of a step", f"{profile.counts.step_flops / 1e9:,.3g} GFLOP, counted in its graph"))
    if ceilings:
        products = ", ".join(f"{_flops(rate)} in {name}" for name, rate in ceilings.flops_per_s.items())
        rows.append(("ceilings, measured", products or UNKNOWN))
        more = [
            f"memory {units.size_bytes(ceilings.memory_bytes_per_s)}/s"
            if ceilings.memory_bytes_per_s
            else "",
            f"host to device {units.size_bytes(ceilings.host_to_device_bytes_per_s)}/s"
            if ceilings.host_to_device_bytes_per_s
            else "",
            f"{units.seconds(ceilings.launch_s)} to start an op" if ceilings.launch_s else "",
        ]
        rows.append(("", ", ".join(filter(None, more))))
    return Table(columns=_PLAIN, rows=tuple(rows))


def timings_table(profile: Profile) -> Table:
    """Return the short timings that the parts come from."""
    timings = profile.timings
    named = (
        ("as it is", timings.as_is),
        ("one batch from memory, again and again", timings.repeated),
        ("the input pipeline alone", timings.input),
        ("the step alone", timings.resident),
        ("the step alone, twice the batch", timings.doubled),
    )
    rows = tuple(
        (name, _timing(timing), str(timing.steps), str(timing.batch_size or UNKNOWN))
        for name, timing in named
    )
    return Table(columns=("timing", "time per step", "steps", "batch"), rows=rows, right=(2, 3))


def trace_tables(profiled: Profiled) -> Iterator[Heading | Text | Table]:
    """Yield tables of the ops and layers that take longest, and how the devices were occupied."""
    operations = profiled.operations
    if operations is None:
        return
    whole_s = sum(kind.time_s for kind in operations.kinds) or 1.0
    yield Heading(text="Operations")
    yield Text(
        text=f"From a trace of {operations.steps} steps. Ops that ran at once both count, so the times may add up to"
        " more than a step."
    )
    kinds = [
        (
            kind.kind,
            kind.group,
            kind.device,
            f"{kind.count:g}",
            units.seconds(kind.time_s),
            units.share(kind.time_s / whole_s),
        )
        for kind in operations.kinds[:_ROWS]
    ]
    columns = ("type", "group", "device", "per step", "time", "share")
    yield Table(columns=columns, rows=tuple(kinds), right=(3, 4, 5))
    yield Heading(text="Layers")
    layers = [
        (
            layer.layer,
            layer.kind,
            _seconds(layer.forward_s),
            _seconds(layer.backward_s),
            units.share((layer.forward_s + layer.backward_s) / whole_s),
            f"{layer.count:g}",
        )
        for layer in operations.layers
    ]
    columns = ("layer", "class", "forward", "backward", "share", "ops")
    yield Table(columns=columns, rows=tuple(layers), right=(2, 3, 4, 5))
    yield Heading(text="Devices in the traced steps")
    yield _busy_table(profiled)


def _busy_table(profiled: Profiled) -> Table:
    operations = profiled.operations
    rows = []
    for busy in operations.busy if operations else ():
        tiny = f"{busy.small_launches:g} of {busy.launches:g} under 10 µs"
        idle = (
            f"{units.seconds(busy.idle_s)} in {busy.gaps:g} gaps, {units.seconds(busy.longest_gap_s)} at most"
        )
        rows.append((busy.device, str(busy.lanes), units.seconds(busy.busy_s), idle, tiny))
    for copy in operations.copies if operations else ():
        kind = f"{copy.kind}, {copy.memory or 'memory not told'}"
        rows.append(
            (kind, f"{copy.count:g}", units.seconds(copy.time_s), units.size_bytes(copy.bytes), "copies")
        )
    columns = ("device", "lanes", "busy a step", "idle a step", "ops or kernels started")
    return Table(columns=columns, rows=tuple(rows), right=(1, 2))


def python_tables(profile: Profile) -> Iterator[Heading | Table]:
    """Yield what ran in Python: callbacks, and parts of Keras."""
    if profile.callbacks:
        yield Heading(text="Callbacks")
        rows = tuple(
            (
                cost.name,
                cost.by,
                units.seconds(cost.step_s),
                units.seconds(cost.epoch_s) if cost.epoch_s is not None else UNKNOWN,
            )
            for cost in profile.callbacks
        )
        yield Table(columns=("callback", "of", "per step", "per epoch"), rows=rows, right=(2, 3))
    if profile.python:
        yield Heading(text="Python")
        rows2 = tuple(
            (cost.part, units.seconds(cost.step_s), f"{cost.calls:.3g}") for cost in profile.python[:_ROWS]
        )
        yield Table(columns=("part", "per step", "calls a step"), rows=rows2, right=(1, 2))


def _seconds(value_s: float) -> str:
    """Return a time, or a dash where nothing ran."""
    return units.seconds(value_s) if value_s else UNKNOWN


def _flops(rate: float) -> str:
    for limit, factor, unit in ((1e12, 1e9, "G"), (1e15, 1e12, "T")):
        if rate < limit:
            return f"{rate / factor:.3g} {unit}FLOP/s"
    return f"{rate / 1e15:.3g} PFLOP/s"


def _span(span: Span) -> str:
    if span.value == 0:
        return NOTHING
    spread = f"\n{units.seconds(span.low)} to {units.seconds(span.high)}" if span.low < span.high else ""
    return units.seconds(span.value) + spread


def _timing(timing: Timing) -> str:
    if not timing.step_s:
        return f"{UNKNOWN}\n{timing.reason or 'not timed'}"
    ordered = sorted(timing.step_s)
    middle = units.seconds(ordered[len(ordered) // 2])
    return (
        f"{middle}\n{units.seconds(ordered[0])} to {units.seconds(ordered[-1])}"
        if len(ordered) > 1
        else middle
    )
