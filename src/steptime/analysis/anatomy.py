"""Where a step's time goes and what bounds it: a pure function of what was measured."""

from collections.abc import Mapping
from dataclasses import dataclass

BOUNDS = ("input", "host", "compute", "memory", "mixed", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A time a step with what it may be.

    Attributes:
        value: Estimate.
        low: Lower end.
        high: Upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a step.

    Attributes:
        kind: input, callbacks, tracing, python, launch, compute or memory.
        resource: What it counts for in ``shares``: input, host, compute or memory.
        step_s: Seconds a step.
        share: Of the measured step.
        how: How it was derived, in words.
    """

    kind: str
    resource: str
    step_s: Span
    share: float
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Anatomy:
    """A step taken apart.

    Attributes:
        bound: One of BOUNDS.
        why: One sentence.
        step_s: The measured step, as it is; None when not measured.
        parts: In the order of the step; their times add up to the measured step but for ``residual_share``.
        shares: input, host, compute, memory; empty when not known.
        residual_share: Share of the measured step that the parts miss (negative: exceed); None when not known.
        best_step_s: What the step could at best take on this machine; None when not known.
        best_how: How that was derived.
        flops_per_s: Achieved; None when not known.
        bytes_per_s: Achieved by the step alone; None when not known.
        mfu_share: Model FLOPs utilisation against the measured ceiling of the precision; None when not known.
        doubling_ratio: Time of the step alone with the doubled batch over that with the batch; None when not known.
        disturbance_share: How much longer a step took under the profiler; None without a trace.
        missing: What is not known, and the command that would get it.
    """

    bound: str
    why: str
    step_s: Span | None
    parts: tuple[Part, ...] = ()
    shares: Mapping[str, float]
    residual_share: float | None = None
    best_step_s: float | None = None
    best_how: str | None = None
    flops_per_s: float | None = None
    bytes_per_s: float | None = None
    mfu_share: float | None = None
    doubling_ratio: float | None = None
    disturbance_share: float | None = None
    missing: Mapping[str, str]
