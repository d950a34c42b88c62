"""The lines that end a script: how fast, what was gained, and where it really ran."""

from typing import Any

import pytest

from steptime.diagnosis.model.rule import LintFinding, LintReport
from steptime.record.placement import contradiction
from steptime.record.schema import Call, Proof, RunRecord
from steptime.report.document import Table
from steptime.report.pages.script import (
    ScriptCall,
    call_sentence,
    gain_sentence,
    place_sentence,
    saved_seconds,
    script_page,
    script_summary,
)
from steptime.report.render.html import render_html
from steptime.testing import make_record


def proof_of(planned: str, ops: dict[str, int], variables: dict[str, int]) -> Proof:
    """A proof as the worker makes it, with the judgement that belongs to it."""
    heavy = dict.fromkeys(ops, ("MatMul x 4",))
    return Proof(
        planned_device=planned,
        compute_ops=ops,
        heavy_ops=heavy,
        variables=variables,
        contradiction=contradiction(planned, ops, heavy, variables),
    )


def call_of(
    scope: str | None = None, proof: Proof | None = None, number: int = 1, **changes: Any
) -> RunRecord:
    call = Call(number=number, place="train.py, line 12", device_scope=scope)
    return make_record(call=call, proof=proof or proof_of("CPU:0", {"CPU:0": 186}, {"CPU:0": 14}), **changes)


def execution(loop: str, step_s: dict[str, float | None], steps: dict[str, int]) -> dict[str, Any]:
    return {
        "loop": loop,
        "reason": f"{loop}: the reason",
        "candidates": [
            {"loop": name, "step_s": value, "compile_s": 0.5, "reason": None, "verification": None}
            for name, value in step_s.items()
        ],
        "segments": [{"epoch": 0, "first_step": 0, "n_steps": n, "loop": name} for name, n in steps.items()],
    }


def test_a_comparison_that_an_earlier_call_made_is_not_called_this_ones() -> None:
    steps_s = {"keras": 0.01, "graph": 0.002}

    first = gain_sentence(call_of(execution=execution("graph", steps_s, {"keras": 7, "graph": 618})))
    second = gain_sentence(call_of(execution=execution("graph", steps_s, {"graph": 625})))

    assert "measured in this call" in first
    assert "measured in an earlier call" in second


def test_a_call_says_where_it_stands_and_how_fast_it_was() -> None:
    sentence = call_sentence(call_of(execution=execution("graph", {"graph": 0.01}, {"graph": 3750})))

    assert sentence == (
        "train.py, line 12: mnist_cnn, 2 epochs, 3,750 steps of 10.7 ms (3,000 samples/s) in loop graph "
        "to loss 0.0700"
    )


def test_the_gain_is_that_of_loops_measured_in_the_call_with_the_cost_of_trying_them() -> None:
    call = call_of(
        execution=execution(
            "graph", {"keras": 0.02, "graph": 0.01, "xla": 0.03}, {"keras": 16, "graph": 1000, "xla": 10}
        )
    )

    # 1000 steps saved 10 ms each; 10 trial steps lost 10 ms each; two loops took 0.5 s each to compile.
    assert saved_seconds(call) == pytest.approx(10.0 - 0.1 - 1.0)
    assert gain_sentence(call) == (
        "2.00 times as fast as Keras' own loop, measured in this call: 10.0 ms a step against 20.0 ms; "
        "about 8.90 s saved with all trials"
    )


def test_a_call_too_short_to_gain_says_that_it_lost() -> None:
    call = call_of(execution=execution("graph", {"keras": 0.02, "graph": 0.01}, {"keras": 3, "graph": 5}))

    assert "lost, because the call was short" in gain_sentence(call)


@pytest.mark.parametrize("step_s", [{"keras": 0.02}, {"keras": None, "graph": 0.01}, {"graph": 0.01}])
def test_without_both_times_no_gain_is_claimed(step_s: dict[str, float | None]) -> None:
    loop = list(step_s)[-1]

    assert gain_sentence(call_of(execution=execution(loop, step_s, {loop: 10}))) == f"{loop}: the reason"


def test_a_plain_fit_on_a_machine_with_a_gpu_is_said_to_have_run_on_the_gpu() -> None:
    """The tutorial's "CPU" cell."""
    sentence = place_sentence(call_of(proof=proof_of("GPU:0", {"GPU:0": 180, "CPU:0": 6}, {"GPU:0": 14})))

    assert sentence.startswith("ran on CPU:0, GPU:0 (6 compute ops on CPU:0, 180 compute ops on GPU:0")


def test_a_scope_that_was_obeyed_is_confirmed() -> None:
    sentence = place_sentence(call_of("GPU:0", proof_of("GPU:0", {"GPU:0": 186}, {"GPU:0": 14})))

    assert sentence == (
        'inside tf.device("/GPU:0"), it ran there: 186 compute ops on GPU:0; 14 variables on GPU:0'
    )


@pytest.mark.parametrize(
    ("ops", "variables", "evidence"),
    [
        # A model built outside the scope keeps its weights where they are.
        ({"CPU:0": 186}, {"GPU:0": 14}, "14 variables on GPU:0"),
        ({"GPU:0": 186}, {"GPU:0": 14}, "186 compute ops on GPU:0"),
    ],
)
def test_a_cpu_scope_that_did_not_hold_is_said_not_to_hold(
    ops: dict[str, int], variables: dict[str, int], evidence: str
) -> None:
    sentence = place_sentence(call_of("CPU:0", proof_of("CPU:0", ops, variables)))

    assert sentence.startswith('inside tf.device("/CPU:0"), but that is not where all of it ran: ')
    assert evidence in sentence


def test_without_a_proof_the_reason_is_given() -> None:
    call = make_record(proof=None, unavailable={"proof": "the call ended before its first step did"})

    assert place_sentence(call) == "where it ran is not known: the call ended before its first step did"


def lints(*findings: tuple[str, str]) -> LintReport:
    return LintReport(
        findings=tuple(
            LintFinding(
                kind=kind, title=f"{kind} was found.", severity=severity, evidence=("3 of 4",), consequence="c",
                fix=f"mend_{kind}()", confidence="high", link="docs/lints.md",
            )
            for kind, severity in findings
        ),
        clear=(),
        unchecked={},
    )  # fmt: skip


def rows_of(*calls: ScriptCall, environment: tuple[tuple[str, str], ...] = ()) -> list[tuple[str, ...]]:
    (table,) = script_summary(make_record(), calls, environment).parts
    assert isinstance(table, Table)
    return list(table.rows)


def test_three_findings_are_shown_errors_first_then_the_machines_each_kind_once() -> None:
    first = ScriptCall(record=call_of(), lints=lints(("one", "hint"), ("two", "error")))
    second = ScriptCall(record=call_of(number=2), lints=lints(("two", "error"), ("three", "warning")))

    rows = rows_of(first, second, environment=(("no GPU [kind]", "install it"),))

    found = [text for name, text in rows if name == "finding"]
    assert [text.partition(" was found")[0] for text in found] == [
        "fit 1: error: two",
        "no GPU [kind]",
        "fit 2: warning: three",
    ]
    assert rows[-1] == ("", "and 1 more in the report")


def test_of_a_kind_the_gravest_is_shown_with_its_fit() -> None:
    first = ScriptCall(record=call_of(), lints=lints(("one", "hint")))
    second = ScriptCall(record=call_of(number=2), lints=lints(("one", "error")))

    rows = rows_of(first, second, environment=tuple((f"machine {n}", "mend it") for n in range(3)))

    assert next(text for name, text in rows if name == "finding").startswith("fit 2: error: one was found.")


def test_many_calls_show_their_first_ones_and_the_last() -> None:
    calls = [ScriptCall(record=call_of(execution=None), lints=None) for _ in range(40)]

    rows = rows_of(*calls)

    assert sum(name.startswith("fit ") for name, _ in rows) == 6
    assert ("", "the 34 calls between are in the report") in rows


def test_a_script_without_fit_shows_proof_and_devices() -> None:
    rows = rows_of()

    assert rows[0][1].startswith("mnist-cnn: no fit, ")
    assert rows[1][0] == "proof"
    assert "186 compute ops on CPU:0" in rows[1][1]


def test_the_page_holds_every_call_and_its_findings() -> None:
    call = ScriptCall(record=call_of(), lints=lints(("two", "error")))

    page = render_html(script_page(make_record(), [call], (("no GPU", "install it"),)))

    for text in ("Fit 1", "Findings about this machine", "two was found.", "The script as a whole"):
        assert text in page
