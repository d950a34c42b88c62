"""In what runs differ beyond what their arms say: unlike things are not compared silently."""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from steptime.plan.plan import Plan
from steptime.record.schema import RunRecord

# How the steps are executed: what a comparison is usually about. Runs may differ in these without an arm's word.
EXECUTION = frozenset(
    "device loop exact_kernels precision tf32 xla threads inter_threads deterministic".split()
)
# These never change what is trained or how fast; seeds have a rule of their own.
_FREE = frozenset({"name", "seed"})
_JOB_SETTINGS = {"optimizer": "optimizer", "loss": "loss"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing in which arms differ.

    Attributes:
        key: What ``--allow-different`` calls it.
        values: The value of each arm, as text.
    """

    key: str
    values: Mapping[str, str]


def find_differences(arms: Mapping[str, Sequence[RunRecord]]) -> tuple[Difference, ...]:
    """Return in what the arms differ beyond what they say.

    Args:
        arms: Records of runs that ended well, by arm. A run that belongs to an arm says the arm's settings; any
            other says how its steps are executed.
    """
    said = {key for records in arms.values() for record in records for key in _said(record.plan)}
    texts = {
        arm: _merged([dict(_facts(record, said)) for record in records])
        for arm, records in arms.items()
        if records
    }
    keys = dict.fromkeys(key for values in texts.values() for key in values)
    found = []
    for key in keys:
        values = {arm: facts.get(key, "none") for arm, facts in texts.items()}
        if len(set(values.values())) > 1:
            found.append(Difference(key=key, values=values))
    return (*found, *_seeds(arms))


def refused(differences: Sequence[Difference], allowed: Collection[str]) -> tuple[Difference, ...]:
    """Return the differences that nobody insisted on; ``packages`` allows ``packages.keras`` and so on."""
    return tuple(
        item for item in differences if item.key not in allowed and item.key.partition(".")[0] not in allowed
    )


def _said(plan: Plan) -> Collection[str]:
    return plan.arm.changes if plan.arm is not None else EXECUTION


def _facts(record: RunRecord, said: Collection[str]) -> Iterator[tuple[str, str]]:
    workload = record.plan.workload
    functions = (workload.model_function, workload.data_function, workload.compile_function)
    yield "workload", f"{PurePath(workload.target).name} ({', '.join(functions)})"
    for field in dataclasses.fields(record.plan.settings):
        if field.name not in said and field.name not in _FREE:
            yield field.name, str(getattr(record.plan.settings, field.name))
    yield "steptime", record.steptime_version
    if record.job is not None:
        job = record.job
        yield "data", f"{job.train_samples} training and {job.validation_samples} validation samples"
        yield "model", f"{job.model}, {job.parameters} weights"
        for key, setting in _JOB_SETTINGS.items():
            if setting not in said:
                yield f"job.{key}", str(getattr(job, key))
    if record.environment is not None:
        environment = record.environment
        yield "workload_source", (environment.workload_sha256 or "unknown")[:12]
        yield "python", environment.python
        host = environment.host
        yield (
            "machine",
            f"{host.get('cpu_model')}, {host.get('logical_cores')} logical cores, {host.get('os_release')}",
        )
        for package, version in environment.packages.items():
            yield f"packages.{package}", version
        for flag, value in environment.flags.items():
            if flag != "CUDA_VISIBLE_DEVICES":
                yield f"flags.{flag}", value


def _merged(records: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return one text for each key; runs of one arm that differ among themselves show all their values."""
    keys = dict.fromkeys(key for facts in records for key in facts)
    return {key: " / ".join(dict.fromkeys(facts.get(key, "none") for facts in records)) for key in keys}


def _seeds(arms: Mapping[str, Sequence[RunRecord]]) -> Iterator[Difference]:
    seeds = {
        arm: {record.plan.settings.seed for record in records} for arm, records in arms.items() if records
    }
    most: set[int] = max(seeds.values(), key=len, default=set())
    # An arm that was stopped early has fewer runs, which is no difference in kind.
    if any(not own <= most for own in seeds.values()):
        texts = {arm: ", ".join(str(seed) for seed in sorted(own)) for arm, own in seeds.items()}
        yield Difference(key="seed", values=texts)
