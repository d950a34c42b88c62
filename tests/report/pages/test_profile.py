"""The page of a profile and its summary."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from steptime.analysis.anatomy import Anatomy, Part, Span
from steptime.analysis.interval import Interval
from steptime.diagnosis.speed.evaluate import evaluate
from steptime.diagnosis.speed.facts import speed_facts
from steptime.diagnosis.speed.rules import RULES
from steptime.diagnosis.speed.trial import Trial
from steptime.record.operations import Bar, Copy, NodeTime
from steptime.record.profile import CallbackCost, Pipeline, PythonCost, Stage, Validation
from steptime.report.document import Chart, Code, Document, Heading, Lanes, Roofline, Stacks, Table, Text
from steptime.report.pages.profile import profile_page, profile_summary
from steptime.report.pages.profiled import Profiled
from steptime.report.render.html import render_html
from steptime.report.render.markdown import render_markdown
from steptime.report.render.text import render_text
from steptime.testing import make_ceilings, make_operations, make_plan, make_profile, make_record, make_run

GOLDEN = Path(__file__).parents[2] / "golden"


def span(value: float) -> Span:
    return Span(value=value, low=value * 0.97, high=value * 1.03)


def anatomy(**changes: object) -> Anatomy:
    times = (
        ("input", "input", 0.0100), ("callbacks", "host", 0.0009), ("python", "host", 0.0004),
        ("launch", "host", 0.0012), ("compute", "compute", 0.0060), ("memory", "memory", 0.0015),
    )  # fmt: skip
    made = Anatomy(
        bound="input",
        why="Half of the step is gone when the same batch comes from memory.",
        step_s=span(0.0200),
        parts=tuple(
            Part(
                kind=kind,
                resource=resource,
                step_s=span(value),
                share=value / 0.02,
                how="difference of two timings",
            )
            for kind, resource, value in times
        ),
        shares={"input": 0.5, "host": 0.125, "compute": 0.3, "memory": 0.075},
        residual_share=0.001,
        best_step_s=0.006,
        best_how="0.54 GFLOP at 80 GFLOP/s",
        flops_per_s=55e9,
        bytes_per_s=6.1e9,
        mfu_share=0.68,
        doubling_ratio=1.95,
        disturbance_share=0.08,
        missing={},
    )
    return dataclasses.replace(made, **changes)


def profiled(**changes: object) -> Profiled:
    stages = (
        Stage(name="TensorSlice"),
        Stage(name="Map", has_python=True),
        Stage(name="Batch", batch_size=32),
    )
    profile = make_profile(
        pipeline=Pipeline(
            kind="dataset", stages=stages, dtypes=("float32", "int64"), batch_bytes=10_000, elements=1875
        ),
        callbacks=(CallbackCost(name="Slow|Logger", by="person", step_s=0.0009, epoch_s=None),),
        python=(PythonCost(part="Keras: reading the logs", step_s=0.0002, calls=1.0),),
        validation=Validation(step_s=0.004, steps=313, epoch_s=20.0, every_epochs=1, batch_size=32),
        unavailable={"counts.least_bytes": "the graph has an op of unknown shape"},
    )
    kinds = (("Conv2D", "convolution", 0.0032, 1.6e8, 5e6), ("Mul", "elementwise", 0.0006, 1e6, 3e6))
    nodes = tuple(
        NodeTime(
            name=f"model/{kind}", kind=kind, group=group, layer="conv2d", role="forward", device="host", count=1,
            time_s=time_s, flops=flops, bytes=size,
        )
        for kind, group, time_s, flops, size in (*kinds, kinds[0])
    )  # fmt: skip
    timeline = (
        Bar(lane="", name="step", group="step", layer=None, begin_s=0.0, duration_s=0.01),
        Bar(
            lane="thread 1", name="Conv2D", group="convolution", layer="conv2d", begin_s=0.0, duration_s=0.003
        ),
        Bar(lane="thread 2", name="Odd", group="random", layer=None, begin_s=0.004, duration_s=0.001),
    )
    copies = (Copy(kind="host to device", memory="pageable", count=1, bytes=1e6, time_s=0.001),)
    operations = make_operations(nodes=nodes, timeline=timeline, copies=copies)
    times = np.arange(0, 40, 0.2)
    devices = {"cpu.t_ns": (times * 1e9).astype(np.int64), "cpu.utilisation_share": 0.8 + 0.1 * np.sin(times)}
    plan = dataclasses.replace(make_plan(epochs=2), command=("steptime", "profile", "mnist-cnn"))
    record = make_record(plan)
    host = {"usable_cores": 2, "cpu_quota_cores": None, "memory_bytes": 8 * 2**30, **record.environment.host}
    record = dataclasses.replace(record, environment=dataclasses.replace(record.environment, host=host))
    run = dataclasses.replace(make_run(record), devices=devices)
    made = Profiled(
        run=run,
        profile=profile,
        operations=operations,
        ceilings=make_ceilings(),
        anatomy=anatomy(),
        diagnosis=evaluate(RULES, speed_facts(run.record, anatomy(), profile, operations, make_ceilings())),
    )
    return dataclasses.replace(made, **changes)


TRIALS = (
    Trial(
        kind="validation-share", patch={"validation_freq": "5"}, predicted_s=0.0085,
        saved_s=Interval(value=0.008, low=0.0078, high=0.0082, confidence=0.95, is_assumed=False), verdict="faster",
        training="equal", reason=None,
    ),
    Trial(
        kind="precision", patch={"precision": "mixed_bfloat16"}, predicted_s=None, saved_s=None, verdict="failed",
        training="unknown", reason="it failed",
    ),
)  # fmt: skip


def charts(document: Document) -> dict[str, Chart]:
    return {part.name: part for part in document.parts if isinstance(part, Chart)}


def words(document: Document) -> str:
    return render_text(document, 10_000)


@pytest.mark.parametrize("name", ["profile_summary.txt", "profile_summary.md", "profile_page.txt"])
def test_the_page_is_the_golden_one(name: str) -> None:
    whole = profiled(trials=TRIALS)
    made = {
        "profile_summary.txt": render_text(profile_summary(whole), 100),
        "profile_summary.md": render_markdown(profile_summary(whole)),
        "profile_page.txt": render_text(profile_page(whole), 100),
    }

    assert made[name] + "\n" == (GOLDEN / name).read_text(encoding="utf-8")


def test_the_summary_keeps_to_40_lines_even_with_trials_and_many_findings() -> None:
    whole = profiled(trials=TRIALS * 2, anatomy=anatomy(missing={"a": "not known", "b": "not known"}))

    assert len(whole.diagnosis.findings) > 4
    assert len(render_text(profile_summary(whole), 100).splitlines()) <= 40


def test_the_title_says_what_bounds_the_step_and_what_would_help_most() -> None:
    assert profile_page(profiled()).title == (
        "A step takes 20.0 ms, and it waits for input for 50.0 % of that; map-sequential costs up to "
        "32.6 % of the training."
    )


def test_the_bar_of_the_step_is_to_scale_beside_what_is_possible() -> None:
    plot = charts(profile_page(profiled()))["step-anatomy"].plot

    assert isinstance(plot, Stacks)
    assert sum(lengths[0] for _, lengths in plot.parts) == pytest.approx(20.0)
    assert sum(lengths[1] for _, lengths in plot.parts) == pytest.approx(6.0)
    assert plot.labels == ("this step", "at best on this machine")


def test_the_roofline_joins_ops_of_a_type_and_has_the_measured_roofs() -> None:
    plot = charts(profile_page(profiled()))["roofline"].plot

    assert isinstance(plot, Roofline)
    assert [dot.name for dot in plot.dots] == ["Conv2D", "Mul"]
    assert plot.dots[0].x == pytest.approx(32.0)
    assert plot.dots[0].y == pytest.approx(1.6e8 / 0.0032 / 1e9)
    assert plot.roofs == (("float32", 80.0),)
    assert plot.slope == pytest.approx(12.0)


def test_the_roofline_shows_types_that_are_used_and_those_that_are_faster() -> None:
    rates = {"float32": 20e12, "tf32": 100e12, "bfloat16": 200e12, "float64": 10e12}
    plot = charts(profile_page(profiled(ceilings=make_ceilings(flops_per_s=rates))))["roofline"].plot

    assert isinstance(plot, Roofline)
    assert [name for name, _ in plot.roofs] == ["float32", "tf32", "bfloat16"]


def test_the_timeline_has_a_lane_for_each_thread_and_a_mark_for_each_step() -> None:
    plot = charts(profile_page(profiled()))["timeline"].plot

    assert isinstance(plot, Lanes)
    assert plot.lanes == ("thread 1", "thread 2")
    assert plot.marks == (0.0,)
    assert {plot.groups[stretch.group] for stretch in plot.stretches} == {"convolution", "other"}


def test_every_finding_has_its_price_its_evidence_and_its_remedy() -> None:
    page = profile_page(profiled())
    text = words(page)
    remedies = [part.text for part in page.parts if isinstance(part, Code)]

    for finding in profiled().diagnosis.findings:
        assert f"{finding.kind}: {finding.title}" in text
        assert finding.how in text
    assert "dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE)" in remedies


def test_disturbance_by_the_profiler_is_said_from_5_per_cent_on() -> None:
    assert "Under the profiler a step took 8.0 % longer" in words(profile_summary(profiled()))
    assert "Under the profiler" not in words(
        profile_summary(profiled(anatomy=anatomy(disturbance_share=0.04)))
    )


def test_parts_that_do_not_add_up_are_a_caution() -> None:
    page = profile_page(profiled(anatomy=anatomy(residual_share=-0.05)))

    assert any(isinstance(part, Text) and part.is_caution and "5.0 %" in part.text for part in page.parts)


def test_a_run_that_was_not_profiled_says_what_is_missing_and_the_command() -> None:
    record = make_record()
    nothing = Anatomy(
        bound="unknown", why="It was not profiled.", step_s=None, shares={}, missing={"step": "no timing"}
    )
    bare = Profiled(
        run=make_run(record), profile=None, operations=None, ceilings=None, anatomy=nothing,
        diagnosis=evaluate(RULES, speed_facts(record, nothing)),
    )  # fmt: skip
    page = profile_page(bare)

    assert page.title == "How long a step of this run takes is not known."
    assert "steptime profile mnist-cnn" in words(page)
    assert charts(page) == {}
    assert render_html(page)


def test_nothing_found_is_said() -> None:
    diagnosis = evaluate((), speed_facts(make_record(), anatomy()))

    assert "No rule found anything" in words(profile_summary(profiled(diagnosis=diagnosis)))


def test_names_in_a_page_are_escaped() -> None:
    text = render_markdown(profile_page(profiled()))

    assert "| Slow|Logger" not in text
    assert "Slow\\|Logger" in text


def test_the_html_loads_nothing() -> None:
    html = render_html(profile_page(profiled(trials=TRIALS)))

    assert "<script" not in html
    assert "http" not in html.replace("http://www.w3.org", "").replace("http-equiv", "")
    assert len(html) < 400_000


def test_the_headings_lead_from_the_answer_to_the_details() -> None:
    headings = [
        part.text for part in profile_page(profiled(trials=TRIALS)).parts if isinstance(part, Heading)
    ]
    wanted = [
        "What would help", "Remedies that were tried", "The step in parts", "Limits of this machine", "Over time",
        "Operations", "Layers", "Callbacks", "Python", "Timings", "Checked and fine", "Environment", "Repeat it",
    ]  # fmt: skip

    assert [heading for heading in headings if heading in wanted] == wanted


def test_layers_that_cost_nothing_in_one_direction_have_a_dash() -> None:
    tables = [
        part
        for part in profile_page(profiled()).parts
        if isinstance(part, Table) and part.columns[0] == "layer"
    ]

    assert tables[0].rows[-1][3] == "-"
