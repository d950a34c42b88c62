"""What a profile's pages are made of, and the sentences that they share."""

from dataclasses import dataclass

from steptime import units
from steptime.analysis.anatomy import Anatomy, Part
from steptime.diagnosis.speed.rule import Remedy, SpeedDiagnosis, SpeedFinding
from steptime.diagnosis.speed.trial import Trial
from steptime.record.ceilings import Ceilings
from steptime.record.operations import Operations
from steptime.record.profile import Profile
from steptime.record.stored import StoredRun

UNKNOWN = "-"
# The profiled step may take this much longer than the same step without the profiler before a reader must know.
DISTURBED_SHARE = 0.05
_PARTS = {
    "input": "waiting for input",
    "callbacks": "callbacks",
    "tracing": "tracing again",
    "python": "Python",
    "launch": "dispatch, launches",
    "compute": "products, convolutions",
    "memory": "other ops (memory)",
}
_BOUND = {
    "input": "it waits for input",
    "host": "the device waits for the host",
    "compute": "it computes",
    "memory": "it moves bytes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiled:
    """A run that was looked at.

    Attributes:
        run: Its record and series.
        profile: Its timings; None for a run that was not profiled.
        operations: The digest of its trace; None without one.
        ceilings: What the device can do at best; None when not measured.
        anatomy: Where its step's time goes.
        diagnosis: What costs time.
        trials: Remedies that were measured.
    """

    run: StoredRun
    profile: Profile | None
    operations: Operations | None
    ceilings: Ceilings | None
    anatomy: Anatomy
    diagnosis: SpeedDiagnosis
    trials: tuple[Trial, ...] = ()


def headline(profiled: Profiled) -> str:
    """Return the answer in one sentence: how long a step takes, what bounds it, and what would help most."""
    anatomy = profiled.anatomy
    if anatomy.step_s is None:
        return "How long a step of this run takes is not known."
    step = f"A step takes {units.seconds(anatomy.step_s.value)}"
    if anatomy.bound in _BOUND and anatomy.shares:
        share = units.share(anatomy.shares.get(anatomy.bound, 0.0))
        step += f", and {_BOUND[anatomy.bound]} for {share} of that"
    elif anatomy.bound == "mixed":
        step += ", and nothing alone bounds it"
    first = next((found for found in profiled.diagnosis.findings if found.saves_share is not None), None)
    if first is None or first.saves_share is None:
        return f"{step}."
    return f"{step}; {first.kind} costs up to {units.share(first.saves_share)} of the training."


def reason(profiled: Profiled) -> str:
    """Return why the step is bound as it is, as a sentence."""
    why = profiled.anatomy.why
    return f"{why[:1].upper()}{why[1:].rstrip('.')}."


def part_name(part: Part) -> str:
    """Return what people call a part of a step."""
    return _PARTS.get(part.kind, part.kind)


def saving_text(finding: SpeedFinding) -> str:
    """Return what a finding saves at most, as a share of the step and in the whole run."""
    if finding.saves_step_s is None:
        return UNKNOWN
    share = f", {units.share(finding.saves_share)} of all" if finding.saves_share is not None else ""
    whole = f"\n{units.seconds(finding.saves_at_most_s)} of the run" if finding.saves_at_most_s else ""
    return f"{units.seconds(finding.saves_step_s)} a step{share}{whole}"


def patch_text(remedy: Remedy) -> str:
    """Return a settings patch as the command line takes it; empty when there is none."""
    return " ".join(f"--set {key}={value}" for key, value in remedy.patch.items())


def disturbance_text(anatomy: Anatomy) -> str | None:
    """Return by how much tracing disturbed the step, if it did."""
    share = anatomy.disturbance_share
    if share is None or abs(share) <= DISTURBED_SHARE:
        return None
    word = "longer" if share > 0 else "less"
    took = f"Under the profiler a step took {units.share(abs(share))} {word} than without"
    return f"{took}: read the trace's times as shares"


def missing_rows(profiled: Profiled) -> tuple[tuple[str, str], ...]:
    """Return what is not known and why, each once."""
    rows = dict(profiled.anatomy.missing)
    for source in (profiled.profile, profiled.operations, profiled.ceilings):
        if source is not None:
            rows |= {name: why for name, why in source.unavailable.items() if name not in rows}
    if profiled.ceilings is not None and profiled.ceilings.device == "cpu":
        rows.pop("host_to_device_bytes_per_s", None)  # nobody misses a copy to where the data are
    return tuple(rows.items())


def nothing_found(diagnosis: SpeedDiagnosis) -> str:
    """Return what to say where there is no finding."""
    if not diagnosis.unchecked:
        return "No rule found anything that costs 3 % of the training or more."
    left = len(diagnosis.unchecked)
    checked = f"{len(diagnosis.fine)} of the things that cost time were checked and are fine"
    return f"{checked}; {left} could not be checked: {diagnosis.unchecked[0]['why']}."


def grouped_unchecked(diagnosis: SpeedDiagnosis) -> tuple[tuple[str, str], ...]:
    """Return kinds that were not checked, with the reason they share."""
    kinds: dict[str, list[str]] = {}
    for check in diagnosis.unchecked:
        kinds.setdefault(check["why"], []).append(check["kind"])
    return tuple((", ".join(names), why) for why, names in kinds.items())
