"""``steptime check``: findings without training."""

import json
from pathlib import Path
from typing import Any

import pytest

from steptime.device.find import GpuSearch
from steptime.launch.launcher import OnEvent
from steptime.plan.plan import Plan
from steptime.record.model_facts import ModelFacts, write_model_facts
from steptime.record.schema import Outcome, RunRecord
from steptime.testing import FakeLauncher, make_record

WRONG = {"eager": {"run_eagerly": True, "functions": False, "data_debug_mode": False}}
SOUND = {"eager": {"run_eagerly": False, "functions": False, "data_debug_mode": False}}
HINT = {"batch": {"size": 2, "samples": 3, "last": 1}, "batch_norms": []}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lets the next check read these facts, without a process."""
    monkeypatch.setattr(
        "steptime.device.find.find_gpus", lambda: GpuSearch((), "no NVIDIA driver", "install it")
    )

    class Launcher(FakeLauncher):
        """Leaves facts in the folder too."""

        values: dict[str, Any] | None = None

        def launch(self, plan: Plan, folder: Path, on_event: OnEvent) -> RunRecord:
            if self.values is not None:
                write_model_facts(folder, ModelFacts(values=self.values))
            on_event({"kind": "inspected"})
            return super().launch(plan, folder, on_event)

    def reads(values: dict[str, Any] | None, **changes: Any) -> Launcher:
        launcher = Launcher(make_record(**changes))
        launcher.values = values
        monkeypatch.setattr("steptime.launch.process.ProcessLauncher", lambda: launcher)
        return launcher

    return reads


@pytest.mark.parametrize(("values", "code"), [(WRONG, 1), (SOUND, 0), (HINT, 0)])
def test_an_error_or_a_warning_ends_it_with_1(steptime: Any, reads: Any, values: Any, code: int) -> None:
    launcher = reads(values)

    assert steptime("check").code == code
    assert launcher.plans[0].protocol.check_only


def test_a_finding_is_shown_with_evidence_consequence_and_fix(steptime: Any, reads: Any) -> None:
    reads(WRONG)
    out = steptime("check").out

    assert "warning" in out
    assert "compile(run_eagerly=True) is in force" in out
    assert "docs/lints.md#run-eagerly" in out
    assert "not checked, since " in out


def test_json_is_data_alone(steptime: Any, reads: Any) -> None:
    reads(WRONG)
    body = json.loads(steptime("check", "--json").out)

    assert [item["kind"] for item in body["findings"]] == ["run-eagerly"]


def test_nothing_is_left_behind(steptime: Any, reads: Any, here: Path) -> None:
    reads(SOUND)
    steptime("check")

    assert list(here.iterdir()) == []


@pytest.mark.parametrize("values", [None, WRONG])
def test_a_job_that_can_not_be_made_is_an_error_beside_the_findings(
    steptime: Any, reads: Any, values: Any
) -> None:
    reads(
        values,
        outcome=Outcome(status="failed", phase="build", reason="It broke.", hint="Mend it.", exit_code=2),
    )
    code, out, err = steptime("check")

    assert code == 2
    assert err.splitlines()[-2:] == ["error: It broke.", "hint: Mend it."]
    assert ("run-eagerly" in out) == (values is not None)


def test_train_shows_the_findings_before_the_first_step(steptime: Any, reads: Any) -> None:
    reads(WRONG)
    err = steptime("train").err

    assert "warning: Steps run eagerly" in err
    assert err.index("warning: ") < err.index("training ...")


def test_show_repeats_them(steptime: Any, reads: Any) -> None:
    reads(WRONG)
    steptime("train")

    assert "Findings about model and data" in steptime("show", "last").out
