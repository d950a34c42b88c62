"""``steptime scale``."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from steptime.launch import model_size
from steptime.launch.model_size import ModelSize
from steptime.plan.plan import Plan
from steptime.record.schema import DeviceUse, RunRecord
from steptime.record.store import create_run_folder, write_record
from steptime.testing import make_plan, make_record


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting a model takes seconds; its child process has a test of its own."""
    size = ModelSize(
        model="net", parameters=300, gradient_bytes=4_000_000, gradients=6, embedding_bytes=1_000_000
    )
    monkeypatch.setattr(model_size, "ask_model_size", lambda workload: size)


def write(here: Path, plan: Plan, **changes: Any) -> RunRecord:
    folder = create_run_folder(here / "runs", "train", plan)
    record = make_record(plan, run_id=folder.name, **changes)
    write_record(folder, record)
    return record


def job(batch_size: int) -> Any:
    return dataclasses.replace(make_record().job, batch_size=batch_size)  # type: ignore[type-var]


def steps(step_ns: float) -> Any:
    return dataclasses.replace(make_record().steps, step_ns=step_ns)  # type: ignore[type-var]


def test_parameters_and_a_step_time_are_enough(steptime: Any) -> None:
    code, out, err = steptime("scale", "--parameters", "25.6M", "--step-time", "0.12")

    assert (code, err) == (0, "")
    assert out.startswith("25,600,000 parameters, 97.7 MiB of gradients a step; a step of 120 ms, as given")
    assert "40 to 55 %" in out  # 8 devices over 10 GbE, batch growing
    assert "These are upper limits" in out


def test_json_holds_every_number_and_its_link(steptime: Any) -> None:
    answer = json.loads(
        steptime("scale", "--parameters", "1_000", "--step-time", "1", "--devices", "2,16", "--json").out
    )

    assert answer["work"] == {"gradient_bytes": 4000, "step_s": 1.0, "fixed_s": 0.0}
    assert {item["devices"] for item in answer["scalings"]} == {2, 16}
    assert {"growing", "same", "all_reduce_s", "worth_from_s", "link"} <= set(answer["scalings"][0])


def test_without_a_step_time_it_says_from_which_step_on(steptime: Any) -> None:
    out = steptime("scale", "--parameters", "1M").out

    assert "no step time given" in out
    assert "2 are worth it from a step of" in out
    assert "perfect speed-up when" not in out


def test_a_link_of_your_own_comes_first(steptime: Any) -> None:
    answer = json.loads(steptime("scale", "--parameters", "250M", "--bandwidth", "1", "--json").out)

    assert answer["scalings"][0]["link"]["name"] == "yours"
    assert answer["scalings"][0]["all_reduce_s"] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.usefixtures("counted")
def test_a_run_on_a_cpu_is_compared_over_networks_only_and_says_so(steptime: Any, here: Path) -> None:
    record = write(here, make_plan())
    out = steptime("scale", "--run", "last").out

    assert f"a step of 10.7 ms on cpu, by run {record.run_id}" in out
    assert "NVLink" not in out.replace("NVLink:", "")
    assert "another machine like it" in out
    assert "977 KiB of the gradients belong to embeddings" in out


@pytest.mark.usefixtures("counted")
def test_a_gpu_that_waits_is_to_be_made_busy_first(steptime: Any, here: Path) -> None:
    idle = DeviceUse(
        name="gpu0", samples=9, utilisation_share=0.2, own_utilisation_share=None, other_work_share=None,
        memory_peak_bytes=None, power_mean_w=None, energy_j=None, energy_source=None, energy_idle_j=None,
        temperature_peak_c=None, clock_mean_mhz=None, throttled_share=None,
    )  # fmt: skip
    write(here, make_plan(), device="gpu:0", devices=(idle,))
    out = steptime("scale", "--run", "last").out

    assert "The GPU was busy 20.0 % of the time" in out
    assert "NVLink 4" in out


@pytest.mark.usefixtures("counted")
def test_two_batch_sizes_tell_what_does_not_shrink(steptime: Any, here: Path) -> None:
    small = write(here, make_plan(name="small"), job=job(32), steps=steps(4e6))
    large = write(here, make_plan(name="large"), job=job(64), steps=steps(6e6))
    answer = json.loads(steptime("scale", "--run", small.run_id, "--run", large.run_id, "--json").out)

    assert answer["work"]["step_s"] == pytest.approx(0.004)
    assert answer["work"]["fixed_s"] == pytest.approx(0.002)
    assert "2.00 ms do not shrink" in steptime("scale", "--run", small.run_id, "--run", large.run_id).out


@pytest.mark.usefixtures("counted")
def test_two_runs_that_do_not_tell_are_refused(steptime: Any, here: Path) -> None:
    write(here, make_plan())
    code, out, err = steptime("scale", "--run", "last", "--run", "last")

    assert (code, out) == (2, "")
    assert "must differ in batch size" in err


def test_a_run_without_steady_steps_is_refused(steptime: Any, here: Path) -> None:
    write(here, make_plan(), steps=None)
    code, out, err = steptime("scale", "--run", "last")

    assert (code, out) == (2, "")
    assert "steady step time" in err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--devices", "1"), "--devices must be whole numbers from 2"),
        (("--devices", "2,,4"), "--devices must be whole numbers from 2"),
        (("--devices", "9" * 40), "--devices must be whole numbers from 2"),
        (("--parameters", "many"), "--parameters must be a positive number"),
        (("--parameters", "0"), "--parameters must be a positive number"),
        (("--parameters", ""), "--parameters must be a positive number"),
        (("--parameters", "1M", "--step-time", "0"), "--step-time must be a positive number"),
        (("--parameters", "1M", "--step-time", "nan"), "--step-time must be a positive number"),
        (("--parameters", "1M", "--bandwidth", "-1"), "--bandwidth must be a positive number"),
        (("--run", "last", "--step-time", "1"), "must come from one run, two runs, or --step-time"),
        (("--run", "none-such"), "The run must exist"),
        (("none-such",), "The workload must be"),
    ],
)
def test_wrong_use_is_an_error_and_a_hint(steptime: Any, arguments: tuple[str, ...], error: str) -> None:
    code, out, err = steptime("scale", *arguments)
    first, second = err.splitlines()

    assert (code, out) == (2, "")
    assert error in first
    assert second.startswith("hint: ")


def test_a_run_on_several_devices_is_refused(steptime: Any, here: Path) -> None:
    write(here, make_plan(), group={"replicas": 4})
    code, out, err = steptime("scale", "--run", "last")

    assert (code, out) == (2, "")
    assert "must be that of one device" in err
    assert "on 4 devices" in err


def test_two_runs_that_differ_in_more_than_the_batch_are_refused(steptime: Any, here: Path) -> None:
    small = write(here, make_plan(name="small"), job=job(32), steps=steps(4e6), execution={"loop": "xla"})
    large = write(
        here,
        make_plan(name="large"),
        job=job(64),
        steps=steps(6e6),
        device="gpu:0",
        execution={"loop": "graph"},
    )
    code, _, err = steptime("scale", "--run", small.run_id, "--run", large.run_id)

    assert code == 2
    assert "another device and another loop" in err
