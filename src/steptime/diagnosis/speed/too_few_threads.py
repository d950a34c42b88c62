"""Fewer threads than processors."""

from steptime.diagnosis.condition import All, Check, is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="too-few-threads",
    title="An op may use {threads} threads, and there are {cores_usable} processors.",
    cause="Matrix products and convolutions are split among the threads inside an op; the other processors idle.",
    applies=is_("device", "cpu"),
    when=All(Check("threads", "cores_usable", test=lambda threads, cores: threads <= cores / 2)),
    saving=Saving(
        names=("compute_s", "memory_s", "threads", "cores_usable"),
        calculate=lambda compute, memory, threads, cores: (compute + memory) * (1 - threads / cores),
        how="the time in ops ({compute_s} and {memory_s}), if all processors shared it evenly",
    ),
    ways=(Way(patch={"threads": "none"}),),
    clear="An op may use all processors.",
    fires=(
        {
            "device": "cpu",
            "threads": 1,
            "inter_threads": 1,
            "cores_usable": 8.0,
            "compute_s": 0.008,
            "memory_s": 0.001,
            "step_s": 0.01,
        },
    ),
    silent=(
        {
            "device": "cpu",
            "threads": 8,
            "cores_usable": 8.0,
            "compute_s": 0.008,
            "memory_s": 0.001,
            "step_s": 0.01,
        },
    ),
)
