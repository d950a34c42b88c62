"""A comparison as a page, and the summary that ends it on the terminal."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from steptime import units
from steptime.analysis.comparison import ArmFacts, Comparison, Estimate
from steptime.analysis.interval import Interval
from steptime.record.schema import RunRecord
from steptime.record.stored import StoredRun
from steptime.record.study import Study
from steptime.report.document import Chart, Code, Document, Heading, Part, Table, Text
from steptime.report.pages import compare_charts as charts
from steptime.report.pages.run import UNKNOWN, environment_rows, proof_sentence, shown
from steptime.report.pages.verdict import cautions, headline, is_wide, number, other_sentences, short_verdict

_PLAIN = ("", "")
_TOO_FEW = "too few runs for an interval"
_QUANTITIES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "samples_per_s": ("samples per second", lambda value: units.rate(value, "").removesuffix(" /s")),
    "step_s": ("time per step", units.seconds),
    "epoch_s": ("time per epoch", units.seconds),
    "validation_s": ("time per validation", units.seconds),
    "total_s": ("total time to train", units.seconds),
    "target_s": ("time to target", units.seconds),
    "peak_process_bytes": ("peak memory of the process", units.size_bytes),
    "peak_device_bytes": ("peak memory on the GPU", units.size_bytes),
    "energy_j": ("energy of the training", units.joules),
}
_SCALING = "of a perfect speed-up"
_DOCTOR = "`steptime doctor` tells more."


def compare_summary(comparison: Comparison, study: Study) -> Document:
    """Return what a person wants to know at once: the answer, the table, and what to keep in mind."""
    parts: list[Part] = [_main_table(comparison), *_words(comparison, study), *_end(study)]
    return Document(title=headline(comparison), parts=tuple(parts))


def compare_note(comparison: Comparison, study: Study, runs: Mapping[str, Sequence[StoredRun]]) -> Document:
    """Return the summary with what others need to judge it: environment and command; to be pasted somewhere."""
    summary = compare_summary(comparison, study)
    parts = (
        *summary.parts,
        *_environment(runs),
        Heading(text="Repeat it"),
        Code(text=shlex.join(study.command)),
    )
    return Document(title=summary.title, parts=parts)


def compare_page(comparison: Comparison, study: Study, runs: Mapping[str, Sequence[StoredRun]]) -> Document:
    """Return everything: the answer, pictures, every quantity, proof, environment, method, command."""
    records = [run.record for own in runs.values() for run in own]
    parts: list[Part] = [*_words(comparison, study)]
    parts += [*charts.epoch_chart(comparison), *charts.parts_chart(comparison)]
    parts += [Heading(text="At a glance"), _main_table(comparison)]
    parts += _section("How fast it learned", charts.learning_charts(comparison, runs))
    parts += [Heading(text="Every quantity"), quantity_table(comparison)]
    parts += [Text(text="Small: the 95 % interval, and the ratio to the baseline.")]
    parts += _section("Step times", charts.step_chart(comparison, runs))
    parts += _section("What the devices did", charts.device_charts(comparison, runs))
    parts += [Heading(text="Where it ran"), _proof_table(comparison, runs)]
    parts += _environment(runs)
    parts += [Heading(text="How it was measured"), *_method(comparison, study, records)]
    missing = _missing(records)
    if missing:
        parts += [Heading(text="Not measured"), Table(columns=_PLAIN, rows=missing)]
    parts += [Heading(text="Repeat it"), Code(text=shlex.join(study.command))]
    workload = records[0].plan.workload.name if records else ""
    created = records[0].created.replace("T", " ").removesuffix("Z") + " UTC" if records else ""
    above = " · ".join(part for part in ("steptime compare", workload, created) if part)
    return Document(above=above, title=headline(comparison), parts=tuple(parts))


def _words(comparison: Comparison, study: Study) -> Iterator[Text]:
    """Yield the answer's other sentences, and what to keep in mind."""
    yield from (Text(text=text) for text in other_sentences(comparison))
    yield from (Text(text=f"Keep in mind: {text}.", is_caution=True) for text in cautions(comparison))
    if study.no_gpu_reason:
        sentence = study.no_gpu_reason[:1].upper() + study.no_gpu_reason[1:].rstrip(".")
        yield Text(text=f"No GPU was compared. {sentence}. {_DOCTOR}")


def _environment(runs: Mapping[str, Sequence[StoredRun]]) -> Iterator[Part]:
    records = (run.record for own in runs.values() for run in own)
    first = next((record for record in records if record.environment is not None), None)
    if first is not None:
        yield Heading(text="Environment")
        yield Table(columns=_PLAIN, rows=environment_rows(first))


def _end(study: Study) -> Iterator[Text]:
    if study.stop:
        yield Text(text=f"Nothing more was run: {study.stop}.")


def quantity_table(comparison: Comparison) -> Table:
    """Return a row for each quantity, a column for each arm."""
    found = [facts.quantities for facts in comparison.arms]
    # What no arm could measure stands below, with its reason; a target that no arm reached is an answer.
    keys = [
        key
        for key in _QUANTITIES
        if any(key in own and (own[key].value or key == "target_s") for own in found)
    ]
    rows = []
    for key in keys:
        title, text = _QUANTITIES[key]
        if key == "target_s":
            title = f"time to {comparison.target}"
        rows.append((title, *(_estimate(facts.quantities.get(key), text) for facts in comparison.arms)))
    metrics = dict.fromkeys(name for facts in comparison.arms for name in facts.metrics)
    rows += [(f"final {name}", *(_metric(facts, name) for facts in comparison.arms)) for name in metrics]
    parts = dict.fromkeys(
        part for facts in comparison.arms for part, seconds in facts.parts_s.items() if seconds > 0
    )
    rows += [(part, *(_seconds(facts.parts_s.get(part)) for facts in comparison.arms)) for part in parts]
    return Table(columns=("", *(facts.arm.name for facts in comparison.arms)), rows=tuple(rows))


def _main_table(comparison: Comparison) -> Table:
    metric = _main_metric(comparison)
    target = ("time to target",) if comparison.target else ()
    scaling = (_SCALING,) if any(facts.efficiency for facts in comparison.arms) else ()
    columns = (
        "arm",
        "time per epoch",
        "times as fast",
        *scaling,
        *target,
        *((metric,) if metric else ()),
        "verdict",
    )
    rows = []
    for facts in comparison.arms:
        cells = [facts.arm.name, _estimate(facts.quantities.get("epoch_s"), units.seconds, is_short=True)]
        cells.append(_speed(facts, comparison))
        if scaling:
            cells.append(_efficiency(facts))
        if target:
            cells.append(_estimate(facts.quantities.get("target_s"), units.seconds, is_short=True))
        if metric:
            cells.append(_metric(facts, metric))
        rows.append((*cells, short_verdict(facts)))
    return Table(columns=columns, rows=tuple(rows))


def _main_metric(comparison: Comparison) -> str | None:
    """Return the metric that people look at first: the validation's, and not the loss, where there is one."""
    found = dict.fromkeys(name for facts in comparison.arms for name in facts.metrics)
    return min(found, key=lambda name: (not name.startswith("val_"), name.endswith("loss")), default=None)


def _speed(facts: ArmFacts, comparison: Comparison) -> str:
    if facts.arm.name == comparison.baseline:
        return "1"
    ratio = facts.verdict.speed_ratio if facts.verdict else None
    return f"{number(ratio.value)}\n{_spread(ratio, number)}" if ratio else UNKNOWN


def _efficiency(facts: ArmFacts) -> str:
    share = facts.efficiency
    return f"{units.share(share.value)}\n{_spread(share, units.share)}" if share else UNKNOWN


def _estimate(estimate: Estimate | None, text: Callable[[float], str], *, is_short: bool = False) -> str:
    if estimate is None:
        return UNKNOWN
    if estimate.value is None:
        # A target that was not reached is an answer; why a sensor is missing stands further down.
        return estimate.reason or "" if (estimate.reason or "").startswith("not reached") else UNKNOWN
    spread = _spread(estimate.value, text)
    ratio = f"{number(estimate.ratio.value)} times baseline" if estimate.ratio and not is_short else ""
    return "\n".join(filter(None, (text(estimate.value.value), spread, ratio)))


def _spread(value: Interval, text: Callable[[float], str]) -> str:
    if is_wide(value):
        return _TOO_FEW
    low, high = text(value.low), text(value.high)
    return "" if low == high else f"{low} to {high}"


def _metric(facts: ArmFacts, name: str) -> str:
    metric = facts.metrics.get(name)
    if metric is None:
        return UNKNOWN
    reach = f"\n± {metric.reach:.4f}" if metric.reach is not None and metric.reach >= 0.00005 else ""
    return shown(metric.value) + reach


def _seconds(value_s: float | None) -> str:
    return units.seconds(value_s) if value_s else UNKNOWN


def _section(title: str, found: Iterator[Chart]) -> list[Part]:
    pictures = list(found)
    return [Heading(text=title), *pictures] if pictures else []


def _proof_table(comparison: Comparison, runs: Mapping[str, Sequence[StoredRun]]) -> Table:
    rows = []
    for facts in comparison.arms:
        proofs = [run.record.proof for run in runs[facts.arm.name] if run.record.proof is not None]
        proof = proof_sentence(proofs[-1]) if proofs else facts.failure or UNKNOWN
        loops = dict.fromkeys(
            str(run.record.execution["reason"]) for run in runs[facts.arm.name] if run.record.execution
        )
        rows.append((facts.arm.name, facts.device or UNKNOWN, " / ".join(loops) or UNKNOWN, proof))
    columns = ("arm", "device", "loop that executed the steps", "proof, from the executed graphs")
    return Table(columns=columns, rows=tuple(rows))


def _method(comparison: Comparison, study: Study, records: Sequence[RunRecord]) -> Iterator[Part]:
    order = ", ".join(run.arm for run in study.runs)
    seeds = ", ".join(str(seed) for seed in sorted({record.plan.settings.seed for record in records}))
    yield Text(
        text="Every run was a fresh process. All arms trained the same work from the same seeds "
        f"({seeds}), in turns, so that drift of the machine hit all alike: {order}."
    )
    yield Text(
        text="Speed is the median time of a step at steady state, in each run; compiling and warming up are "
        "found and reported apart. The interval comes from the spread between runs and between blocks of steps "
        "(docs/measuring.md gives the method and its sources). A difference below 1 % is never called one."
    )
    yield from _end(study)
    if comparison.differences:
        yield Text(text="The arms also differ in what nobody said; whoever compared them insisted:")
        names = [facts.arm.name for facts in comparison.arms]
        rows = tuple(
            (item.key, *(item.values.get(name, UNKNOWN) for name in names)) for item in comparison.differences
        )
        yield Table(columns=("", *names), rows=rows)


def _missing(records: Sequence[RunRecord]) -> tuple[tuple[str, str], ...]:
    reasons: dict[str, str] = {}
    for record in records:
        for name, reason in record.unavailable.items():
            reasons.setdefault(name, reason)
    return tuple(reasons.items())
