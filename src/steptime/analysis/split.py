"""Splits the time of the step alone: starting operations, computing, moving bytes."""

from dataclasses import dataclass

from steptime.record.ceilings import Ceilings
from steptime.record.operations import Operations
from steptime.record.profile import Profile

# Starting an operation costs more inside a real step than in a chain of equal ones: its arguments are looked
# up, other threads are woken, caches are cold. Measured 1.2 to 1.9 times on two cores.
_LAUNCH_FACTOR = 2.0
# Operations that XLA joins to one program are started as one; the host still starts a few others beside it.
_XLA_LAUNCHES = 20
# Below this an operation's own work is no more than starting it.
_SMALL_S = 1e-5
# A product waits for memory only where moving its bytes at full speed takes at least this share of its time.
_STARVED_SHARE = 0.3
# From this share on, programs of XLA whose contents their names do not tell would decide the answer.
_UNTOLD_SHARE = 0.2
_HEAVY = ("matmul", "convolution")
_MOVING = ("elementwise", "reduction", "memory", "random", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Shares of the step alone, which add up to 1.

    Attributes:
        launch: Starting operations: what does not grow with the batch and is no traffic of weights.
        compute: Matrix products and convolutions.
        memory: Everything else that grows with the data, and the traffic of weights and optimizer state.
        how: How it was derived, by part.
        is_sure: Whether compute and memory could be told apart.
    """

    launch: float
    compute: float
    memory: float
    how: dict[str, str]
    is_sure: bool


def split_step(
    profile: Profile,
    operations: Operations | None,
    ceilings: Ceilings | None,
    *,
    alone_s: float,
    doubled_s: float | None,
) -> Split:
    """Split the step alone.

    What does not grow when the batch is doubled is fixed: twice the step minus the doubled step. Of that, at
    most what starting all operations can cost counts as launching, and at most the time of the optimizer's
    operations and of products that wait for weights as traffic of weights. All else is divided by the trace,
    or by the counted operations and the measured ceilings where there is no trace.

    Args:
        profile: The profile.
        operations: The digest of the trace; None when there is none.
        ceilings: Of the device; None when they are not known.
        alone_s: Seconds of the step alone.
        doubled_s: Seconds of the step alone with a batch of twice the size; None when not known.
    """
    most_launch_s = _most_launch_s(profile, ceilings)
    fixed = 0.0 if doubled_s is None else min(max(2 * alone_s - doubled_s, 0.0) / alone_s, 1.0)
    if doubled_s is None:
        launch = min((most_launch_s or 0.0) / _LAUNCH_FACTOR / alone_s, 1.0)
        fixed, how_launch = (
            launch,
            "the batch could not be doubled: operations of the graph times the cost of a start",
        )
    elif most_launch_s is None:
        launch = max(fixed - _weights_s(profile, operations, ceilings) / alone_s, 0.0)
        how_launch = "what does not grow with the batch, without the traffic of weights"
    else:
        launch = min(fixed, most_launch_s / alone_s)
        how_launch = "what does not grow with the batch, at most what starting all operations can cost"
    # What is neither did grow, only less than the batch, since larger batches use the cores better.
    weights = min(fixed - launch, _weights_s(profile, operations, ceilings) / alone_s)
    growing = 1.0 - launch - weights
    computing, how, is_sure = _computing_share(profile, operations, ceilings)
    return Split(
        launch=launch,
        compute=growing * computing,
        memory=weights + growing * (1.0 - computing),
        how={
            "launch": how_launch,
            "compute": how,
            "memory": f"{how}; and the fixed rest: weights and optimizer",
        },
        is_sure=is_sure,
    )


def _most_launch_s(profile: Profile, ceilings: Ceilings | None) -> float | None:
    if ceilings is None or ceilings.launch_s is None or profile.counts is None:
        return None
    started = profile.counts.operations
    if profile.loop.name == "xla" or profile.loop.jit_compile:
        started = _XLA_LAUNCHES
    return None if started is None else _LAUNCH_FACTOR * started * ceilings.launch_s


def _weights_s(profile: Profile, operations: Operations | None, ceilings: Ceilings | None) -> float:
    """Seconds of the traffic of weights and optimizer state: traced, or their bytes at full speed."""
    if operations is not None and (updating_s := _updating_s(operations)):
        return updating_s + _starved_s(operations, profile, ceilings)
    fixed_bytes = profile.counts.fixed_bytes if profile.counts else None
    bandwidth = ceilings.memory_bytes_per_s if ceilings else None
    return fixed_bytes / bandwidth if fixed_bytes and bandwidth else 0.0


def _computing_share(
    profile: Profile, operations: Operations | None, ceilings: Ceilings | None
) -> tuple[float, str, bool]:
    """Share of what grows with the batch that is matrix products and convolutions, how, and whether it is sure."""
    traced = _traced_share(operations, profile, ceilings) if operations is not None else None
    if traced is not None:
        return traced, "times of the traced operations by group", True
    counts, peak = profile.counts, peak_flops(profile, ceilings)
    bandwidth = ceilings.memory_bytes_per_s if ceilings else None
    if counts is None or not peak or not bandwidth or counts.heavy_flops is None or counts.step_bytes is None:
        return 1.0, "computing and moving bytes could not be told apart", False
    compute_s = counts.heavy_flops / peak
    memory_s = max(counts.step_bytes - (counts.fixed_bytes or 0), 0) / bandwidth
    if profile.loop.name == "xla" or profile.loop.jit_compile:
        # XLA joins operations, so that most of these bytes are never moved; how many is not known.
        memory_s = (counts.least_bytes or 0) / bandwidth
    whole = compute_s + memory_s
    return (
        (compute_s / whole if whole else 1.0),
        "counted operations and bytes against the measured ceilings",
        True,
    )


def _traced_share(operations: Operations, profile: Profile, ceilings: Ceilings | None) -> float | None:
    """The share by the trace; None when the trace does not tell what runs inside XLA's programs."""
    device = "host" if profile.device == "cpu" else None
    own = [k for k in operations.kinds if (k.device == "host") == (device == "host") and k.count]
    large = [k for k in own if k.time_s / k.count >= _SMALL_S]
    heavy_s = sum(k.time_s for k in large if k.group in _HEAVY)
    moving_s = sum(k.time_s for k in large if k.group in _MOVING)
    moving_s = max(moving_s - _updating_s(operations), 0.0)
    starved_s = _starved_s(operations, profile, ceilings)
    whole_s = heavy_s + moving_s
    untold_s = sum(k.time_s for k in large if k.group == "other" and _is_compiled(k.kind))
    if untold_s > _UNTOLD_SHARE * whole_s:
        return None
    if whole_s <= 0 or not heavy_s + moving_s > 0.05 * operations.step_s:
        return None
    return max(heavy_s - starved_s, 0.0) / whole_s


def _is_compiled(kind: str) -> bool:
    """Whether XLA or a library named the operation; TensorFlow's types begin with a capital."""
    return not kind.lstrip("_")[:1].isupper()


def _updating_s(operations: Operations) -> float:
    updates = (node for node in operations.nodes if node.role == "update")
    return sum(node.time_s for node in updates if node.time_s / node.count >= _SMALL_S)


def _starved_s(operations: Operations, profile: Profile, ceilings: Ceilings | None) -> float:
    """Seconds of products that wait for memory, since their bytes take longer than their arithmetic."""
    peak = peak_flops(profile, ceilings)
    bandwidth = ceilings.memory_bytes_per_s if ceilings else None
    if not peak or not bandwidth:
        return 0.0
    return sum(
        node.time_s
        for node in operations.nodes
        if node.group in _HEAVY
        and node.flops
        and node.bytes
        and node.bytes / bandwidth > max(node.flops / peak, _STARVED_SHARE * node.time_s)
    )


def peak_flops(profile: Profile, ceilings: Ceilings | None) -> float | None:
    """Return the measured FLOP/s of a large product in the job's precision; None when not known."""
    if ceilings is None:
        return None
    name = profile.precision.removeprefix("mixed_")
    if name == "float32" and profile.device != "cpu" and "tf32" in ceilings.flops_per_s:
        name = "tf32"
    return ceilings.flops_per_s.get(name)
