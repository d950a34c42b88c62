"""Which trainings are interrupted, and when: pure, and repeatable from the number of a trial."""

import random
from typing import Any

JOBS = (
    "dropout", "batch-norm", "ema", "schedule", "accumulation", "early-stopping", "shuffled-arrays", "tf-data",
)  # fmt: skip
LOOPS = {
    # A stream has no resident data that one XLA program could run over.
    "steptime": {
        job: ("keras", "graph", "graph+kernels", *(["xla"] if job != "tf-data" else [])) for job in JOBS
    },
    "keras": dict.fromkeys(JOBS, ("keras",)),
    "lightning": dict.fromkeys(JOBS, ("lightning",)),
}
KINDS = {
    "steps": "at a random step",
    "writing": "while a checkpoint is written",
    "validation": "during a validation",
    "between": "between two epochs",
    "resume": "at a random step, and again while it resumes",
    "twice": "twice in one epoch",
}
STEPS_PER_EPOCH = 61  # of 1,950 samples in batches of 32


def trial(way: str, index: int) -> tuple[str, str, str, list[dict[str, Any]]]:
    """Return (job, loop, kind, kills) of a trial: one kill for each start, then it may end.

    Kinds and jobs are dealt in turn, so that any number of trials covers all of them evenly. Delays are drawn from a
    range wider than what the mark announces takes, so that kills fall before, inside and after it.
    """
    pairs = [
        (job, loop) for loop_index in range(4) for job in JOBS for loop in LOOPS[way][job][loop_index:][:1]
    ]
    job, loop = pairs[index % len(pairs)]
    kind = tuple(KINDS)[(index + index // len(pairs)) % len(KINDS)]
    draw = random.Random(f"{way} {index}")
    return job, loop, kind, _kills(kind, draw)


def _kills(kind: str, draw: random.Random) -> list[dict[str, Any]]:
    somewhere = {
        "kind": "block",
        "step": draw.randrange(5, 4 * STEPS_PER_EPOCH),
        "delay_s": draw.uniform(0, 0.1),
    }
    nth = draw.randint(1, 3)
    if kind == "writing":
        return [{"kind": "writing", "nth": draw.randint(1, 12), "delay_s": draw.uniform(0, 0.03)}]
    if kind == "validation":
        return [{"kind": "validation", "nth": nth, "delay_s": draw.uniform(0, 0.05)}]
    if kind == "between":
        return [{"kind": "between", "nth": nth, "delay_s": draw.uniform(0, 0.02)}]
    if kind == "resume":
        return [somewhere, {"kind": "restore", "delay_s": draw.uniform(0, 2.0)}]
    if kind == "twice":
        # After the first checkpoint of the second or third epoch, and then soon after training went on.
        step = draw.randint(1, 2) * STEPS_PER_EPOCH + draw.randint(22, 30)
        first = {"kind": "block", "step": step, "delay_s": draw.uniform(0, 0.02)}
        return [first, {"kind": "block", "delay_s": draw.uniform(0, 0.05)}]
    return [somewhere]


def compare(reference: dict[str, Any], result: dict[str, Any]) -> dict[str, bool]:
    """Return what is equal, to the last bit, in an interrupted training and one that was not."""
    return {
        "weights": result["weights"] == reference["weights"],
        "history": (result["history"], result["epochs"]) == (reference["history"], reference["epochs"]),
        "batches": result["batches"] == reference["batches"],
        "stopped at": result["epochs"][-1:] == reference["epochs"][-1:],
    }
