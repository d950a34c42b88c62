"""A script that trained: the lines that end it, and its page."""

import dataclasses
import textwrap
from collections.abc import Container, Sequence
from dataclasses import dataclass

from steptime import units
from steptime.diagnosis.model.rule import SEVERITIES, LintFinding, LintReport
from steptime.record.schema import Proof, RunRecord
from steptime.report.document import Document, Heading, Part, Table
from steptime.report.pages.lints import lines_of
from steptime.report.pages.run import device_sentence, proof_sentence, run_page

_PLAIN = ("", "")
# A script that calls `fit` in a loop shows its first calls and its last one.
_MOST_CALLS = 6
_MOST_FINDINGS = 3

Advice = tuple[str, str]  # what was found, and what to do


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCall:
    """One ``fit`` call of a script.

    Attributes:
        record: Its record.
        lints: What the lints say about its model and data; None when their facts were not read.
    """

    record: RunRecord
    lints: LintReport | None


def script_summary(record: RunRecord, calls: Sequence[ScriptCall], environment: Sequence[Advice]) -> Document:
    """Return what a person wants to know when a script has ended.

    Args:
        record: Of the script as a whole.
        calls: Its ``fit`` calls, in their order.
        environment: What the doctor found on this machine, the most likely cause first.
    """
    rows = [("script", _script_sentence(record, calls)), *_call_rows(calls)]
    if not calls:
        rows += _rows_without_calls(record)
    errors = model_findings(calls, only=("error",))
    found = [
        *errors,
        *environment,
        *model_findings(calls, only=[one for one in SEVERITIES if one != "error"]),
    ]
    for text, fix in found[:_MOST_FINDINGS]:
        rows += [("finding", text), ("", fix)]
    if len(found) > _MOST_FINDINGS:
        rows.append(("", f"and {len(found) - _MOST_FINDINGS} more in the report"))
    return Document(title="", parts=(Table(columns=_PLAIN, rows=tuple(rows)),))


def model_findings(calls: Sequence[ScriptCall], only: Container[str] = SEVERITIES) -> tuple[Advice, ...]:
    """Return the findings about models and data of all calls: the gravest of each kind, errors first.

    Args:
        calls: The ``fit`` calls, in their order.
        only: The severities that are wanted.
    """
    found = [
        (call.record.call.number if call.record.call else number, finding)
        for number, call in enumerate(calls, 1)
        if call.lints is not None
        for finding in call.lints.findings
    ]
    found.sort(key=lambda one: SEVERITIES.index(one[1].severity))  # of equals the first call stays the first
    kinds: dict[str, tuple[int, LintFinding]] = {}
    for number, finding in found:
        kinds.setdefault(finding.kind, (number, finding))
    return tuple(_advice(number, finding) for number, finding in kinds.values() if finding.severity in only)


def _advice(number: int, finding: LintFinding) -> Advice:
    what, fix = lines_of(finding)
    return f"fit {number}: {what}", fix.strip()


def _call_rows(calls: Sequence[ScriptCall]) -> list[tuple[str, str]]:
    shown = [call.record for call in calls]
    if len(shown) > _MOST_CALLS:
        shown = [*shown[: _MOST_CALLS - 1], shown[-1]]
    rows = [row for record in shown for row in call_rows(record)]
    if len(shown) < len(calls):
        rows.append(("", f"the {len(calls) - len(shown)} calls between are in the report"))
    return rows


def call_rows(call: RunRecord) -> list[tuple[str, str]]:
    """Return one call: what and how fast, what was gained, and where it really ran."""
    number = call.call.number if call.call else 1
    rows = [(f"fit {number}", call_sentence(call))]
    gain = gain_sentence(call)
    if gain:
        rows.append(("", gain))
    rows.append(("", place_sentence(call)))
    if call.outcome.reason:
        rows.append(("", f"{call.outcome.status}: {call.outcome.reason}"))
    return rows


def call_sentence(call: RunRecord) -> str:
    """Return where the call stands, how much it trained, and how fast."""
    steps = sum(epoch.steps for epoch in call.epochs)
    words = [f"{call.call.place}:" if call.call and call.call.place else ""]
    if call.job is not None:
        words.append(f"{call.job.model},")
    epochs = len(call.epochs)
    words.append(f"{epochs} {'epoch' if epochs == 1 else 'epochs'}, {steps:,} steps")
    times = call.steps
    if times and times.step_ns:
        words.append(f"of {units.seconds(times.step_ns / 1e9)}")
        if times.samples_per_s:
            words.append(f"({units.rate(times.samples_per_s, 'samples')})")
    loop = (call.execution or {}).get("loop")
    if loop:
        words.append(f"in loop {loop}")
    if call.epochs and call.epochs[-1].logs.get("loss") is not None:
        words.append(f"to loss {call.epochs[-1].logs['loss']:.4f}")
    return " ".join(word for word in words if word)


def gain_sentence(call: RunRecord) -> str:
    """Return what was gained compared with Keras' own loop, where both are known for the model; else why not."""
    execution = call.execution
    if not execution:
        return ""
    known = {item["loop"]: item for item in execution.get("candidates", ())}
    chosen, stock = known.get(execution["loop"]), known.get("keras")
    if execution["loop"] == "keras" or chosen is None or stock is None:
        return str(execution.get("reason", ""))
    if not stock["step_s"] or not chosen["step_s"]:
        return str(execution.get("reason", ""))
    ratio = stock["step_s"] / chosen["step_s"]
    saved_s = saved_seconds(call)
    # A later call of a model goes on with what an earlier one found out.
    here = any(segment["loop"] == "keras" for segment in execution.get("segments", ()))
    text = (
        f"{ratio:.2f} times as fast as Keras' own loop, measured in {'this' if here else 'an earlier'} call: "
        f"{units.seconds(chosen['step_s'])} a step against {units.seconds(stock['step_s'])}"
    )
    if saved_s is not None and abs(saved_s) >= 0.05:
        what = "saved" if saved_s > 0 else "lost, because the call was short,"
        text += f"; about {units.seconds(abs(saved_s))} {what} with all trials"
    return text


def saved_seconds(call: RunRecord) -> float | None:
    """Return the seconds saved against Keras' own loop, less what trying and compiling other loops cost.

    From the typical step of each loop, in this call or an earlier one of the model; None where Keras' own loop was
    timed in none.
    """
    execution = call.execution or {}
    known = {item["loop"]: item for item in execution.get("candidates", ())}
    stock_s = known.get("keras", {}).get("step_s")
    if not stock_s:
        return None
    saved_s = 0.0
    for segment in execution.get("segments", ()):
        step_s = known.get(segment["loop"], {}).get("step_s")
        if step_s:
            saved_s += segment["n_steps"] * (stock_s - step_s)
    return saved_s - sum(item["compile_s"] or 0.0 for loop, item in known.items() if loop != "keras")


def place_sentence(call: RunRecord) -> str:
    """Return where the call really ran, and whether that is what its tf.device(...) or the plan says."""
    scope, proof = call.call.device_scope if call.call else None, call.proof
    inside = f'inside tf.device("/{scope}"), ' if scope else ""
    if proof is None:
        return f"{inside}where it ran is not known: {call.unavailable.get('proof', 'there is no proof')}"
    evidence = proof_sentence(dataclasses.replace(proof, contradiction=None))
    if scope and proof.contradiction:
        return f"{inside}but that is not where all of it ran: {evidence}"
    if scope:
        return f"{inside}it ran there: {evidence}"
    ran = f"ran on {_devices(proof)} ({evidence})"
    if proof.contradiction:
        return f"{ran}, though {proof.planned_device} was to be used: {proof.contradiction}"
    return ran


def _devices(proof: Proof) -> str:
    return ", ".join(sorted(proof.compute_ops)) or "an unknown device"


def _script_sentence(record: RunRecord, calls: Sequence[ScriptCall]) -> str:
    total_s = sum(phase.duration_ns for phase in record.phases) / 1e9
    words = ["no fit" if not calls else "1 fit" if len(calls) == 1 else f"{len(calls)} fits"]
    if total_s:
        words.append(units.seconds(total_s))
    if record.device:
        reason = textwrap.shorten(record.device_reason or "", 60, placeholder=" ...")
        words.append(f"on {record.device} ({reason})")
    if record.outcome.reason:
        words.append(record.outcome.reason)
    return f"{record.plan.workload.name}: {', '.join(words)}"


def _rows_without_calls(record: RunRecord) -> list[tuple[str, str]]:
    rows = []
    if record.proof is not None:
        rows.append(("proof", f"in functions and variables: {proof_sentence(record.proof)}"))
    elif "proof" in record.unavailable:
        rows.append(("proof", f"none: {record.unavailable['proof']}"))
    rows += [(use.name, device_sentence(use)) for use in record.devices]
    return rows


def script_page(record: RunRecord, calls: Sequence[ScriptCall], environment: Sequence[Advice]) -> Document:
    """Return everything that is known of a script and of its calls.

    Args:
        record: Of the script as a whole.
        calls: Its ``fit`` calls, in their order.
        environment: What the doctor found on this machine, the most likely cause first.
    """
    parts: list[Part] = list(script_summary(record, calls, ()).parts)
    if environment:
        parts += [Heading(text="Findings about this machine"), Table(columns=_PLAIN, rows=tuple(environment))]
    for call in calls:
        number = call.record.call.number if call.record.call else ""
        parts += [Heading(text=f"Fit {number}"), *run_page(call.record, call.lints).parts]
    parts += [Heading(text="The script as a whole"), *run_page(record).parts]
    return Document(title=record.run_id, parts=tuple(parts))
