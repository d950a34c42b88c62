"""From short timings to parts of a step that add up, to what bounds it, and to what it could at best take."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steptime.analysis.anatomy import Anatomy, Part, Span
from steptime.analysis.split import peak_flops, split_step
from steptime.analysis.student import t_quantile
from steptime.plan.workload import Workload
from steptime.record.ceilings import Ceilings
from steptime.record.operations import Operations
from steptime.record.profile import Profile, Timing, Timings
from steptime.record.stored import StoredRun
from steptime.units import seconds, share

# A bound is named when its share is at least this, and this many times the next one's.
_LEADING_SHARE = 0.45
_LEAD = 1.5
# The wait for input may exceed what the pipeline takes alone: its threads and the step compete for cores.
_COMPETITION = 0.25
_UNEXPLAINED_SHARE = 0.2
_NOISE_SHARE = 0.03
_CONFIDENCE = 0.95
_ASSUMED_SPREAD = 0.05
_RESOURCES = {
    "input": "input", "callbacks": "host", "tracing": "host", "python": "host", "launch": "host",
    "compute": "compute", "memory": "memory",
}  # fmt: skip
_WORDS = {
    "input": "waiting for its input",
    "host": "the host's work around the computation: Python, callbacks, starting operations",
    "compute": "matrix products and convolutions",
    "memory": "moving bytes: element-wise operations, weights, optimizer state",
}


def dissect(
    profile: Profile | None, operations: Operations | None, ceilings: Ceilings | None, run: StoredRun
) -> Anatomy:
    """Take a step apart, as far as the data go.

    Args:
        profile: The profile of the run; None when it was not profiled.
        operations: The digest of its trace; None when there is none.
        ceilings: Of its device; None when they are not known.
        run: The run itself.
    """
    missing = _missing(profile, operations, ceilings, command_for(run.record.plan.workload))
    if profile is None or not profile.timings.as_is.step_s:
        return _of_record(run, missing)
    step_s = statistics.median(profile.timings.as_is.step_s)
    parts, residual, is_sure = _parts(profile, operations, ceilings)
    shares = _shares(parts)
    bound, why = _bound(parts, shares, residual, is_sure=is_sure)
    best_s, best_how = _best(profile, ceilings)
    counts, peak = profile.counts, peak_flops(profile, ceilings)
    flops_per_s = counts.step_flops / step_s if counts and counts.step_flops else None
    alone_s = _median(profile.timings.resident)
    trace = profile.trace
    return Anatomy(
        bound=bound,
        why=why,
        step_s=_span(profile.timings.as_is.step_s, step_s),
        parts=parts,
        shares=shares,
        residual_share=residual,
        best_step_s=best_s,
        best_how=best_how,
        flops_per_s=flops_per_s,
        bytes_per_s=counts.step_bytes / alone_s if counts and counts.step_bytes and alone_s else None,
        mfu_share=flops_per_s / peak if flops_per_s and peak else None,
        doubling_ratio=_doubling_ratio(profile.timings),
        disturbance_share=trace.profiled_step_s / trace.unprofiled_step_s - 1
        if trace and trace.unprofiled_step_s
        else None,
        missing=missing,
    )


def command_for(workload: Workload) -> str:
    """Return the command that profiles a workload."""
    given = {"built-in": workload.name, "script": f"--script {workload.target}"}.get(
        workload.kind, workload.target
    )
    return f"steptime profile {given}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outside:
    """What of one step lies outside the step alone, in seconds, and the step alone."""

    input: float
    callbacks: float
    tracing: float
    python: float
    alone: float
    unexplained: float


def _parts(
    profile: Profile, operations: Operations | None, ceilings: Ceilings | None
) -> tuple[tuple[Part, ...], float, bool]:
    timings = profile.timings
    as_is_s = statistics.median(timings.as_is.step_s)
    rounds = _rounds(timings, as_is_s)
    typical_s = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    typical, apart = _outside(profile, typical_s), [_outside(profile, one) for one in rounds]
    alone_s = typical_s.get("resident", typical_s.get("repeated", as_is_s))
    ratio = _doubling_ratio(timings)
    doubled_s = None if ratio is None else alone_s * ratio
    split = split_step(profile, operations, ceilings, alone_s=alone_s, doubled_s=doubled_s)
    found: list[Part] = []
    for kind, how in (
        ("input", _how_input(profile)),
        ("callbacks", "timed around each of their hooks"),
        ("tracing", "steps in which the step was traced or compiled again, against the others"),
        ("python", "the batch repeated from memory, against the step alone in a compiled loop"),
    ):
        values = [getattr(one, kind) for one in apart]
        found.append(_part(kind, getattr(typical, kind), values, as_is_s, how))
    for kind in ("launch", "compute", "memory"):
        factor = getattr(split, kind)
        values = [one.alone * factor for one in apart]
        found.append(_part(kind, typical.alone * factor, values, as_is_s, split.how[kind]))
    is_sure = split.is_sure and bool(timings.resident.step_s) and bool(timings.repeated.step_s)
    return tuple(found), typical.unexplained / as_is_s, is_sure


def _outside(profile: Profile, at: Mapping[str, float]) -> _Outside:
    """Take one step apart; what is left when everything else is known is the step alone, so that all adds up."""
    whole = at["as_is"]
    callbacks = min(sum(cost.step_s for cost in profile.callbacks), whole)
    tracing = min(profile.tracing.time_s if profile.tracing else 0.0, whole - callbacks)
    rest = whole - callbacks - tracing
    repeated, pipeline, alone = at.get("repeated"), at.get("input"), at.get("resident")
    if profile.loop.is_resident:
        # Data that lie on the device are gathered inside the loop, in turn with the step.
        waiting = min(pipeline or 0.0, max(rest - (alone or rest), 0.0))
        unexplained = 0.0
    else:
        waiting = max(rest - (rest if repeated is None else repeated), 0.0)
        most = waiting if pipeline is None else (1 + _COMPETITION) * pipeline + _NOISE_SHARE * whole
        unexplained = max(waiting - most, 0.0)
        waiting -= unexplained
    rest -= waiting + unexplained
    python = max(rest - alone, 0.0) if alone is not None else 0.0
    return _Outside(
        input=waiting,
        callbacks=callbacks,
        tracing=tracing,
        python=python,
        alone=rest - python,
        unexplained=unexplained,
    )


def _how_input(profile: Profile) -> str:
    if profile.loop.is_resident:
        return "gathering batches from data on the device, timed alone"
    return "the job as it is, against one batch repeated from memory; at most what the pipeline takes alone"


def _rounds(timings: Timings, as_is_s: float) -> list[dict[str, float]]:
    """The timings of each round, scaled so that all rounds have the typical step: what drifted hit all alike."""
    named = {name: getattr(timings, name).step_s for name in ("as_is", "repeated", "input", "resident")}
    known = {name: values for name, values in named.items() if values}
    count = min(len(values) for values in known.values())
    return [
        {name: values[number] / timings.as_is.step_s[number] * as_is_s for name, values in known.items()}
        for number in range(count)
    ]


def _doubling_ratio(timings: Timings) -> float | None:
    pairs = list(zip(timings.doubled.step_s, timings.resident.step_s, strict=False))
    return statistics.median(doubled / alone for doubled, alone in pairs) if pairs else None


def _part(kind: str, value: float, rounds: Sequence[float], whole_s: float, how: str) -> Part:
    return Part(
        kind=kind, resource=_RESOURCES[kind], step_s=_span(rounds, value), share=value / whole_s, how=how
    )


def _span(rounds: Sequence[float], value: float) -> Span:
    """The value with the interval of a mean of few rounds (Student's t)."""
    if len(rounds) < 2:
        return Span(value=value, low=value * (1 - _ASSUMED_SPREAD), high=value * (1 + _ASSUMED_SPREAD))
    half = (
        t_quantile(0.5 + _CONFIDENCE / 2, len(rounds) - 1) * statistics.stdev(rounds) / math.sqrt(len(rounds))
    )
    return Span(value=value, low=max(value - half, 0.0), high=value + half)


def _shares(parts: Sequence[Part]) -> dict[str, float]:
    return {
        resource: sum(part.share for part in parts if part.resource == resource)
        for resource in ("input", "host", "compute", "memory")
    }


def _bound(
    parts: Sequence[Part], shares: Mapping[str, float], residual: float, *, is_sure: bool
) -> tuple[str, str]:
    (first, most), (second, next_most) = sorted(shares.items(), key=lambda item: -item[1])[:2]
    if residual > _UNEXPLAINED_SHARE:
        return "unknown", f"{share(residual)} of the step is explained by none of the timings"
    if not is_sure and first in ("compute", "memory"):
        return "unknown", "the step alone could not be timed or counted, and it is most of the step"
    low = sum(part.step_s.low for part in parts if part.resource == first)
    high = sum(part.step_s.high for part in parts if part.resource == second)
    if most >= _LEADING_SHARE and most >= _LEAD * next_most:
        if low > high:
            return first, f"{share(most)} of a step is {_WORDS[first]}"
        return (
            "mixed",
            f"most of it, {share(most)}, is {_WORDS[first]}, but the rounds spread too far to be sure",
        )
    return (
        "mixed",
        f"no one thing bounds it: {share(most)} {_WORDS[first]}; {share(next_most)} {_WORDS[second]}",
    )


def _best(profile: Profile, ceilings: Ceilings | None) -> tuple[float | None, str | None]:
    """The roofline (Williams, Waterman and Patterson, CACM 52, 2009): the slower of arithmetic and traffic."""
    counts, peak = profile.counts, peak_flops(profile, ceilings)
    bandwidth = ceilings.memory_bytes_per_s if ceilings else None
    if counts is None or not peak or not bandwidth or counts.step_flops is None or counts.least_bytes is None:
        return None, None
    compute_s, memory_s = counts.step_flops / peak, counts.least_bytes / bandwidth
    if compute_s >= memory_s:
        return compute_s, f"its arithmetic at the speed of a large matrix product: {seconds(compute_s)}"
    return memory_s, f"its inputs, weights and optimizer state moved once each way: {seconds(memory_s)}"


def _median(timing: Timing) -> float | None:
    return statistics.median(timing.step_s) if timing.step_s else None


def _missing(
    profile: Profile | None, operations: Operations | None, ceilings: Ceilings | None, command: str
) -> dict[str, str]:
    again = f"`{command}` measures it"
    if profile is None:
        names = ("parts", "shares", "operations", "ceilings")
        return dict.fromkeys(names, f"the run was trained, not profiled; {again}")
    missing = dict(profile.unavailable)
    for name in ("repeated", "input", "resident", "doubled"):
        timing = getattr(profile.timings, name)
        if timing.reason:
            missing[f"timings.{name}"] = timing.reason
    if operations is None:
        missing.setdefault("operations", missing.pop("trace", f"there is no trace of it; {again}"))
    if ceilings is None:
        missing.setdefault("ceilings", f"the device's ceilings are not known; {again}")
    return missing


def _of_record(run: StoredRun, missing: Mapping[str, str]) -> Anatomy:
    steps = run.record.steps
    step_s = steps.step_ns / 1e9 if steps and steps.step_ns else None
    return Anatomy(
        bound="unknown",
        why="the record holds the times of steps, not of their parts",
        step_s=None if step_s is None else Span(value=step_s, low=step_s, high=step_s),
        shares={},
        missing=missing,
    )
