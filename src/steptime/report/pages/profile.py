"""A profile as a page, and the summary that ends it on the terminal."""

import shlex
from collections.abc import Iterator

from steptime import units
from steptime.diagnosis.speed.rule import SpeedFinding
from steptime.report.document import Code, Document, Heading, Part, Table, Text
from steptime.report.pages import profile_charts as charts
from steptime.report.pages import profile_tables as tables
from steptime.report.pages.profiled import (
    UNKNOWN,
    Profiled,
    disturbance_text,
    grouped_unchecked,
    headline,
    missing_rows,
    nothing_found,
    patch_text,
    reason,
    saving_text,
)
from steptime.report.pages.run import environment_rows

_PLAIN = ("", "")
# The summary keeps to 40 lines, with remedies that were tried too; the page has all findings.
_SHOWN, _SHOWN_BESIDE_TRIALS = 4, 3


def profile_summary(profiled: Profiled) -> Document:
    """Return what a person wants to know at once, in at most 40 lines of 100 columns."""
    parts: list[Part] = [Text(text=reason(profiled))]
    if profiled.anatomy.parts:
        parts.append(_short_parts(profiled))
    parts += _cautions(profiled)
    findings = profiled.diagnosis.findings
    if findings:
        parts.append(Heading(text="What would help, the most first"))
        parts.append(_short_findings(findings, _SHOWN_BESIDE_TRIALS if profiled.trials else _SHOWN))
    else:
        parts.append(Text(text=nothing_found(profiled.diagnosis)))
    if profiled.trials:
        parts += [Heading(text="Tried"), _trial_table(profiled)]
    parts += _short_limits(profiled)
    missing = missing_rows(profiled)
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        parts.append(Text(text=f"Not known: {missing[0][0]}: {missing[0][1]}{more}"))
    return Document(title=headline(profiled), parts=tuple(parts))


def profile_page(profiled: Profiled) -> Document:
    """Return everything: anatomy, findings with prices, roofline, ops, layers, a few steps, what is not known."""
    record, profile = profiled.run.record, profiled.profile
    parts: list[Part] = [Text(text=reason(profiled)), *_cautions(profiled)]
    parts += charts.anatomy_chart(profiled)
    parts += charts.roofline_chart(profiled)
    parts += _findings(profiled)
    if profiled.trials:
        parts += [Heading(text="Remedies that were tried"), _trial_table(profiled)]
    if profiled.anatomy.parts:
        parts += [Heading(text="The step in parts"), tables.parts_table(profiled)]
    limits = tables.limits_table(profiled)
    if limits.rows:
        parts += [Heading(text="Limits of this machine"), limits]
    timeline = [*charts.timeline_chart(profiled), *charts.utilisation_chart(profiled.run)]
    if timeline:
        parts += [Heading(text="Over time"), *timeline]
    parts += tables.trace_tables(profiled)
    if profile is not None:
        parts += tables.python_tables(profile)
        parts += [Heading(text="Timings"), tables.timings_table(profile)]
    parts += _checked(profiled)
    if record.environment is not None:
        parts += [Heading(text="Environment"), Table(columns=_PLAIN, rows=environment_rows(record))]
    if record.plan.command:
        parts += [Heading(text="Repeat it"), Code(text=shlex.join(record.plan.command))]
    created = record.created.replace("T", " ").removesuffix("Z") + " UTC"
    above = f"steptime profile · {record.plan.workload.name} · {record.device or UNKNOWN} · {created}"
    return Document(above=above, title=headline(profiled), parts=tuple(parts))


def _cautions(profiled: Profiled) -> Iterator[Text]:
    disturbed = disturbance_text(profiled.anatomy)
    if disturbed:
        yield Text(text=f"Keep in mind: {disturbed}.", is_caution=True)
    residual = profiled.anatomy.residual_share
    if residual is not None and abs(residual) > 0.03:
        yield Text(
            text=f"Keep in mind: the parts and the step differ by {units.share(abs(residual))} of it; the machine was"
            " not quiet, or changed its speed between the timings.",
            is_caution=True,
        )


def _findings(profiled: Profiled) -> Iterator[Part]:
    findings = profiled.diagnosis.findings
    yield Heading(text="What would help")
    if not findings:
        yield Text(text=nothing_found(profiled.diagnosis))
        return
    yield Text(
        text="Savings are limits, not promises, and do not add up; shares are of steps and validations. `steptime"
        " profile --try` measures settings."
    )
    rows = tuple((found.kind, found.title, saving_text(found)) for found in findings)
    yield Table(columns=("finding", "what it is", "saves at most"), rows=rows)
    for found in findings:
        yield Heading(text=f"{found.kind}: {found.title}")
        yield Text(text=found.cause)
        yield Text(text=f"Price: {found.how}. Evidence: {'; '.join(found.evidence)}.")
        lines = [patch_text(found.remedy), *found.remedy.lines]
        yield Code(text="\n".join(line for line in lines if line))
        if found.remedy.changes_results:
            yield Text(
                text="It changes what is computed: compare the loss before you keep it.", is_caution=True
            )


def _short_parts(profiled: Profiled) -> Table:
    table = tables.parts_table(profiled, with_bars=True)
    rows = tuple(
        (row[0], row[1].partition("\n")[0], *row[2:]) for row in table.rows if row[1] != tables.NOTHING
    )
    return Table(columns=table.columns, rows=rows, right=table.right)


def _short_findings(findings: tuple[SpeedFinding, ...], number: int) -> Table:
    rows = []
    for found in findings[:number]:
        remedy = patch_text(found.remedy) or found.remedy.lines[0]
        rows.append((saving_text(found).partition("\n")[0], f"{found.kind}: {found.title}"))
        rows.append(("", remedy))
    left = len(findings) - number
    if left > 0:
        rows.append(("", f"and {left} more in the report"))
    return Table(columns=("saves at most", ""), rows=tuple(rows))


def _short_limits(profiled: Profiled) -> Iterator[Part]:
    rows = tables.limits_table(profiled).rows[:2]
    if rows:
        yield Heading(text="Limits of this machine")
        yield Table(columns=_PLAIN, rows=rows)


def _trial_table(profiled: Profiled) -> Table:
    rows = []
    for trial in profiled.trials:
        patch = " ".join(f"{key}={value}" for key, value in trial.patch.items())
        predicted = units.seconds(trial.predicted_s) if trial.predicted_s is not None else UNKNOWN
        saved = trial.saved_s
        measured = UNKNOWN
        if saved is not None:
            measured = (
                f"{units.seconds(saved.value)}\n{units.seconds(saved.low)} to {units.seconds(saved.high)}"
            )
        worse = ", but trained worse" if trial.training == "worse" else ""
        rows.append((patch, trial.kind, predicted, measured, f"{trial.verdict}{worse}"))
    columns = ("setting", "finding", "saves at most, a step", "saved, a step", "verdict")
    return Table(columns=columns, rows=tuple(rows), right=(2, 3))


def _checked(profiled: Profiled) -> Iterator[Part]:
    diagnosis = profiled.diagnosis
    if diagnosis.fine:
        rows = tuple((check["kind"], check["what"]) for check in diagnosis.fine)
        yield Heading(text="Checked and fine")
        yield Table(columns=_PLAIN, rows=rows)
    rows = (*missing_rows(profiled), *grouped_unchecked(diagnosis))
    if rows:
        yield Heading(text="Not known, not checked")
        yield Table(columns=_PLAIN, rows=rows)
