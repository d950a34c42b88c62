"""Trying remedies: what is run, from a profile and its findings."""

import argparse
import dataclasses
from pathlib import Path

import pytest

from steptime.analysis.anatomy import Anatomy, Span
from steptime.cli.trying import BASELINE, plan_trials, try_remedies
from steptime.diagnosis.speed.rule import Remedy, SpeedDiagnosis, SpeedFinding
from steptime.report.pages.profiled import Profiled
from steptime.testing import FakeLauncher, make_plan, make_profile, make_record, make_run

OPTIONS = argparse.Namespace(time_budget=None)


def finding(kind: str, **patch: str) -> SpeedFinding:
    return SpeedFinding(
        kind=kind, title="", cause="", evidence=(), saves_at_most_s=None, saves_step_s=0.004, saves_share=0.4, how="",
        remedy=Remedy(lines=("# code",), patch=patch, changes_results=False), link="",
    )  # fmt: skip


def profiled(*findings: SpeedFinding, step_s: float = 0.010, **settings: object) -> Profiled:
    anatomy = Anatomy(
        bound="host", why="", step_s=Span(value=step_s, low=step_s, high=step_s), shares={}, missing={}
    )
    return Profiled(
        run=make_run(make_record(make_plan(epochs=10, **settings))),
        profile=None,
        operations=None,
        ceilings=None,
        anatomy=anatomy,
        diagnosis=SpeedDiagnosis(findings=findings, fine=(), unchecked=()),
    )


def settings_of(whole: Profiled):
    campaign, _ = plan_trials(whole, whole.diagnosis.findings, 100.0)
    return campaign.base.settings


def test_the_run_as_it_is_and_an_arm_for_each_remedy_are_compared() -> None:
    whole = profiled(finding("loop-keras", loop="auto"), finding("precision", precision="mixed_bfloat16"))
    campaign, study = plan_trials(whole, whole.diagnosis.findings, 100.0)

    assert [arm.name for arm in campaign.arms] == [BASELINE, "loop-keras", "precision"]
    assert campaign.arms[1].changes == {"loop": "auto"}
    assert study.baseline == BASELINE
    assert len(campaign.placements) == 3
    assert campaign.limits.budget_s == 100.0


def test_a_trial_is_some_seconds_of_steps_not_the_whole_training() -> None:
    settings = settings_of(profiled(finding("a", loop="auto"), step_s=0.010))

    assert (settings.epochs, settings.steps_per_epoch) == (1, 600)


def test_a_pass_that_is_short_anyway_is_not_cut_but_repeated() -> None:
    whole = profiled(finding("a", loop="auto"), step_s=0.0005)
    record = whole.run.record
    record = dataclasses.replace(record, job=dataclasses.replace(record.job, steps_per_epoch=1000))
    settings = settings_of(dataclasses.replace(whole, run=dataclasses.replace(whole.run, record=record)))

    assert (settings.epochs, settings.steps_per_epoch) == (4, None)


@pytest.mark.parametrize(
    ("profiled_loop", "loop", "kernels"),
    [("keras", "auto", "auto"), ("xla", "xla", "auto"), ("graph+kernels", "graph", "on")],
)
def test_the_loop_is_the_profiled_one_also_where_a_short_run_would_choose_another(
    profiled_loop: str, loop: str, kernels: str
) -> None:
    profile = make_profile()
    profile = dataclasses.replace(profile, loop=dataclasses.replace(profile.loop, name=profiled_loop))
    settings = settings_of(dataclasses.replace(profiled(finding("a", batch_size="256")), profile=profile))

    assert (settings.loop, settings.exact_kernels) == (loop, kernels)


def test_to_see_less_validation_there_are_as_many_epochs_as_it_leaves_out() -> None:
    settings = settings_of(profiled(finding("validation-share", validation_freq="5")))

    assert settings.epochs == 5


def test_remedies_are_measured_and_set_beside_what_was_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = profiled(
        finding("code-only"), finding("loop-keras", loop="auto"), finding("same-again", loop="auto")
    )
    order = [0.010, 0.005, 0.005, 0.010] * 2
    runs = [make_run(make_record(), step_s=step_s, seed=seed) for seed, step_s in enumerate(order)]

    (trial,), is_interrupted = try_remedies(OPTIONS, tmp_path, whole, FakeLauncher(*runs))

    assert not is_interrupted
    assert trial.kind == "loop-keras"
    assert trial.verdict == "faster"
    assert trial.saved_s is not None
    assert trial.saved_s.value == pytest.approx(0.005, rel=0.1)
    assert "run 1: as-it-is" in capsys.readouterr().err
    assert (tmp_path / "try" / "study.json").is_file()


def test_without_a_setting_among_the_remedies_nothing_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launcher = FakeLauncher()

    assert try_remedies(OPTIONS, tmp_path, profiled(finding("a")), launcher) == ((), False)
    assert launcher.plans == []
    assert "none of the remedies is a setting" in capsys.readouterr().err
