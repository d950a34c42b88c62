"""What is measured in one run."""

import dataclasses

import numpy as np
import pytest

from steptime.analysis.interval import Measured
from steptime.analysis.quantities import measure, step_times
from steptime.record.schema import DeviceUse, Phase
from steptime.record.stored import StoredRun
from steptime.testing import make_record, make_run


def columns(**changes: object) -> dict[str, np.ndarray]:
    values = {
        "epoch": [0, 0, 0, 1, 1],
        "steps": [1, 2, 2, 2, 2],
        "samples": [32, 64, 64, 64, 64],
        "duration_ns": [900, 20, 20, 20, 20],
        "end_ns": [1000, 1030, 1060, 2000, 2030],
        "compiled": [True, False, False, False, False],
        "loop": ["graph"] * 5,
    }
    return {key: np.array(value) for key, value in (values | changes).items()}


def test_time_between_blocks_of_an_epoch_counts_and_time_between_epochs_does_not() -> None:
    mask, times_s = step_times(columns())

    assert mask.tolist() == [False, True, True, True, True]
    # After the compiling block its own duration, within an epoch the spacing, at its start the duration again.
    assert (times_s * 1e9).tolist() == pytest.approx([900, 10, 15, 10, 15])


def test_blocks_of_another_loop_do_not_count() -> None:
    mask, _ = step_times(columns(loop=["keras", "keras", "graph", "graph", "graph"]))

    assert mask.tolist() == [False, False, True, True, True]


def test_old_series_without_end_times_use_durations() -> None:
    old = columns()
    del old["end_ns"]

    assert (step_times(old)[1] * 1e9).tolist() == pytest.approx([900, 10, 10, 10, 10])


def test_no_blocks_are_no_times() -> None:
    mask, times_s = step_times({})

    assert len(mask) == len(times_s) == 0


def test_a_run_without_steps_says_why_it_has_no_speed() -> None:
    measures = measure(StoredRun(record=make_record(), steps={}, devices={}), None, per_sample=True)

    assert measures.steady is None
    assert measures.values["samples_per_s"] == "no steady steps were timed"


def test_an_epoch_is_its_steps_at_steady_speed() -> None:
    measures = measure(make_run(step_s=0.02, noise=0.0), None, per_sample=True)

    assert measures.values["step_s"] == Measured(
        value=pytest.approx(0.02, rel=1e-3), error=pytest.approx(0, abs=1e-6)
    )
    assert isinstance(measures.values["epoch_s"], Measured)
    assert measures.values["epoch_s"].value == pytest.approx(0.02 * 1875, rel=1e-3)


def test_the_parts_of_a_run_add_up_to_its_total() -> None:
    phases = tuple(
        Phase(name=name, duration_ns=seconds * 10**9)
        for name, seconds in {
            "start": 1,
            "import": 2,
            "data": 1,
            "build": 1,
            "compile": 1,
            "warmup": 2,
            "train": 20,
        }.items()
    )
    measures = measure(make_run(make_record(phases=phases), step_s=0.01, noise=0.0), None, per_sample=True)

    # 59 blocks of 25 steps of 10 ms; the first block began 900 ms before its end.
    assert measures.parts_s["training"] == pytest.approx(14.75, rel=1e-3)
    assert sum(measures.parts_s.values()) == pytest.approx(28)
    assert measures.values["total_s"] == Measured(value=pytest.approx(28))


def test_energy_of_some_devices_only_is_not_given_as_the_whole() -> None:
    def use(name: str, energy_j: float | None) -> DeviceUse:
        values = dict.fromkeys(field.name for field in dataclasses.fields(DeviceUse))
        return DeviceUse(
            **(values | {"name": name, "samples": 9, "energy_j": energy_j, "throttle_shares": {}})
        )

    reasons = {"devices.cpu.energy_j": "no permission"}
    some = make_record(devices=(use("cpu", None), use("gpu0", 500.0)), unavailable=reasons)
    every = make_record(devices=(use("cpu", 100.0), use("gpu0", 500.0)))

    values = measure(make_run(some), None, per_sample=True).values
    assert values["energy_j"] == "cpu: no permission"
    assert values["energy_j.gpu0"] == Measured(value=500.0)
    assert measure(make_run(every), None, per_sample=True).values["energy_j"] == Measured(value=600.0)
