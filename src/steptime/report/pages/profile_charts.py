"""The pictures of a profile, as data: the step to scale, the roofline, a few steps, utilisation over time."""

from collections.abc import Iterator

import numpy as np

from steptime import units
from steptime.record.ceilings import Ceilings
from steptime.record.operations import NodeTime, Operations
from steptime.record.profile import Profile
from steptime.record.stored import StoredRun
from steptime.report.document import Chart, Curves, Dot, Lanes, Roofline, Series, Stacks, Stretch
from steptime.report.pages.compare_charts import thin
from steptime.report.pages.profiled import Profiled, part_name

# More dots hide each other, and the rest takes little time.
_DOTS = 8
_LANES = 8
_OTHER = "other"
_GROUPS = ("convolution", "matmul", "elementwise", "reduction", "memory", "input", _OTHER)


def anatomy_chart(profiled: Profiled) -> Iterator[Chart]:
    """Return a bar of the step's parts, to scale, above what the step could at best take."""
    anatomy = profiled.anatomy
    if anatomy.step_s is None or not anatomy.parts:
        return
    best_s = anatomy.best_step_s
    bars = ("this step", "at best on this machine") if best_s else ("this step",)
    parts = [
        (part_name(part), (part.step_s.value * 1e3, *([0.0] if best_s else [])))
        for part in anatomy.parts
        if part.step_s.value > 0
    ]
    texts = [units.seconds(anatomy.step_s.value)]
    if best_s:
        parts.append(("at the ceilings", (0.0, best_s * 1e3)))
        texts.append(units.seconds(best_s))
    yield Chart(
        name="step-anatomy",
        title="Where a step's time goes",
        text="To scale. The parts come from short timings taken in turns; they add up to the step.",
        plot=Stacks(labels=bars, parts=tuple(parts), texts=tuple(texts), x_title="ms per step"),
    )


def roofline_chart(profiled: Profiled) -> Iterator[Chart]:
    """Return the ops that take longest, beside what this machine reached in a large product and in a copy."""
    ceilings, operations = profiled.ceilings, profiled.operations
    if ceilings is None or operations is None or not ceilings.memory_bytes_per_s:
        return
    nodes = _joined(operations)[:_DOTS]
    roofs = tuple(_roofs(ceilings, profiled.profile))
    if not nodes or not roofs:
        return
    whole_s = sum(node.time_s for node in operations.kinds) or 1.0
    yield Chart(
        name="roofline",
        title="How near the ops come to the machine's limits",
        text="A dot is a type of operation; its size is its time. On the slope memory limits it, under the level roof"
        " arithmetic does. The lines were measured on this machine.",
        plot=Roofline(
            dots=tuple(
                Dot(
                    name=node.kind,
                    colour=number,
                    x=(node.flops or 0.0) / (node.bytes or 1.0),
                    y=(node.flops or 0.0) / node.time_s / 1e9,
                    weight=min(node.time_s / whole_s, 1.0),
                )
                for number, node in enumerate(nodes)
            ),
            roofs=roofs,
            slope=ceilings.memory_bytes_per_s / 1e9,
            x_title="operations for each byte moved",
            y_title="10⁹ operations per s",
        ),
    )


def _roofs(ceilings: Ceilings, profile: Profile | None) -> Iterator[tuple[str, float]]:
    """Yield the ceiling of the types that the run uses, and those that would lift it by a fifth or more."""
    rates = ceilings.flops_per_s
    used = {profile.precision.removeprefix("mixed_"), profile.floatx} if profile else {"float32"}
    own = [rate for name, rate in rates.items() if name in used]
    for name, rate in rates.items():
        if name in used or rate > 1.2 * max(own, default=0.0):
            yield name, rate / 1e9


def _joined(operations: Operations) -> list[NodeTime]:
    """Return nodes of one type joined, those whose work and bytes are known, the longest first."""
    joined: dict[str, NodeTime] = {}
    for node in operations.nodes:
        if not node.flops or not node.bytes or node.time_s <= 0:
            continue
        other = joined.get(node.kind)
        joined[node.kind] = NodeTime(
            name=node.kind,
            kind=node.kind,
            group=node.group,
            layer=None,
            role=node.role,
            device=node.device,
            count=node.count + (other.count if other else 0.0),
            time_s=node.time_s + (other.time_s if other else 0.0),
            flops=node.flops + ((other.flops or 0.0) if other else 0.0),
            bytes=node.bytes + ((other.bytes or 0.0) if other else 0.0),
        )
    return sorted(joined.values(), key=lambda node: -node.time_s)


def timeline_chart(profiled: Profiled) -> Iterator[Chart]:
    """Return a few traced steps: which op ran when, on which thread or stream."""
    operations = profiled.operations
    if operations is None or not operations.timeline:
        return
    bars = [bar for bar in operations.timeline if bar.group != "step"]
    busy = _busy_by_lane(operations)
    lanes = sorted(sorted(busy, key=lambda lane: -busy[lane])[:_LANES])
    groups = [group for group in _GROUPS if any(_group(bar.group) == group for bar in bars)]
    yield Chart(
        name="timeline",
        title="A few steps, op by op",
        text=f"The {len(lanes)} busiest of {len(busy)} threads or streams, while the profiler ran; what is white is"
        " idle. Dashed: a step begins. steptime board shows the whole trace.",
        plot=Lanes(
            lanes=tuple(lanes),
            groups=tuple(groups),
            stretches=tuple(
                Stretch(
                    lane=lanes.index(bar.lane),
                    group=groups.index(_group(bar.group)),
                    begin=bar.begin_s * 1e3,
                    length=bar.duration_s * 1e3,
                )
                for bar in bars
                if bar.lane in lanes
            ),
            marks=tuple(bar.begin_s * 1e3 for bar in operations.timeline if bar.group == "step"),
            x_title="ms",
        ),
    )


def _busy_by_lane(operations: Operations) -> dict[str, float]:
    busy: dict[str, float] = {}
    for bar in operations.timeline:
        if bar.group != "step":
            busy[bar.lane] = busy.get(bar.lane, 0.0) + bar.duration_s
    return busy


def _group(name: str) -> str:
    return name if name in _GROUPS else _OTHER


def utilisation_chart(run: StoredRun) -> Iterator[Chart]:
    """Return how busy each device was over the run."""
    columns = run.devices
    names = [key.removesuffix(".utilisation_share") for key in columns if key.endswith(".utilisation_share")]
    series = []
    for colour, name in enumerate(names):
        shares = columns[f"{name}.utilisation_share"]
        known = np.isfinite(shares)
        x, y = thin(columns[f"{name}.t_ns"][known] / 1e9, shares[known] * 100)
        if len(x) > 1:
            series.append(Series(name=name, colour=colour, x=x, y=y))
    if series:
        yield Chart(
            name="utilisation",
            title="How busy the devices were",
            text="Over the whole run, as the sensors read it; every process on the device counts.",
            plot=Curves(
                series=tuple(series),
                x_title="seconds since the process was started",
                y_title="busy share of the device in %",
                from_zero=True,
            ),
        )
