"""More threads than processors."""

from steptime.diagnosis.condition import All, Any, Check, is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way


def _crowd_s(threads: int, others: int, cores: float, *parts_s: float) -> float:
    return sum(parts_s) * (1 - cores / max(threads, others, cores))


RULE = SpeedRule(
    kind="too-many-threads",
    title="{threads} threads inside an op and {inter_threads} ops at once share {cores_usable} processors.",
    cause=(
        "Threads beyond the processors (or beyond a container's quota) take turns: they wait for each other at the "
        "end of every op, and lose their caches on the way."
    ),
    applies=is_("device", "cpu"),
    when=All(
        Any(
            Check(
                "threads", "cores_usable", test=lambda threads, cores: threads >= 2 * cores and threads > 2
            ),
            Check("inter_threads", "cores_usable", test=lambda ops, cores: ops >= 2 * cores and ops > 2),
        ),
    ),
    saving=Saving(
        names=("threads", "inter_threads", "cores_usable", "host_s", "compute_s", "memory_s"),
        calculate=_crowd_s,
        how=(
            "the share of the threads that must wait at any moment, of the time outside input and callbacks; how "
            "much of it is really lost only --try tells"
        ),
    ),
    ways=(
        Way(
            patch={"threads": "none", "inter_threads": "none"},
            where=Check("cores_usable", "physical_cores", test=lambda usable, cores: usable >= cores),
        ),
        Way(patch={"threads": "{threads_next}", "inter_threads": "none"}),
    ),
    clear="There are no more threads than processors.",
    explains=("batch-below-saturation",),
    fires=(
        {
            "device": "cpu",
            "threads": 64,
            "inter_threads": 64,
            "cores_usable": 2.0,
            "physical_cores": 2,
            "host_s": 0.001,
            "compute_s": 0.008,
            "memory_s": 0.001,
            "step_s": 0.01,
        },
    ),
    silent=(
        {
            "device": "cpu",
            "threads": 2,
            "inter_threads": 2,
            "cores_usable": 2.0,
            "host_s": 0.001,
            "compute_s": 0.008,
            "memory_s": 0.001,
            "step_s": 0.01,
        },
    ),
)
