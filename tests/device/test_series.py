import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.device.series import device_names, integrate, summarise


def series(**columns):
    n = len(next(iter(columns.values())))
    return {"gpu0.t_ns": np.arange(n, dtype=np.int64) * 10**9} | {
        f"gpu0.{key}": np.array(values, dtype=float) for key, values in columns.items()
    }


def test_energy_is_taken_from_a_counter_where_there_is_one():
    summary = summarise(series(energy_j=[5, 15, 30], power_w=[1, 1, 1]), "gpu0")
    assert (summary.energy_j, summary.energy_source) == (25, "counter")
    assert summary.power_mean_w == 12.5


def test_energy_is_integrated_by_trapezoids_otherwise():
    summary = summarise(series(power_w=[100, 200, 200]), "gpu0")
    assert (summary.energy_j, summary.energy_source) == (350, "integrated from samples")


def test_without_power_readings_energy_is_unknown():
    summary = summarise(series(utilisation_share=[0.5, 0.5]), "gpu0")
    assert summary.energy_j is None
    assert summary.energy_source is None
    assert summary.power_mean_w is None
    assert summary.throttled_share is None


def test_unknown_readings_are_passed_over():
    assert integrate(np.array([1.0, np.nan, 3.0]), np.array([0.0, 1.0, 2.0])) == 4.0
    assert integrate(np.array([1.0, np.nan]), np.array([0.0, 1.0])) is None


def test_other_work_is_what_the_process_did_not_do():
    summary = summarise(
        series(utilisation_share=[np.nan, 0.9, 0.7], own_utilisation_share=[0.1, 0.5, 0.6]), "gpu0"
    )
    assert summary.other_work_share == pytest.approx(0.25)
    rounding = summarise(series(utilisation_share=[0.5], own_utilisation_share=[0.52]), "gpu0")
    assert rounding.other_work_share == 0.0


def test_energy_while_idle_is_told_apart():
    summary = summarise(series(utilisation_share=[0, 0, 1, 1], power_w=[50, 50, 300, 300]), "gpu0")
    assert summary.energy_idle_j == pytest.approx(75)
    assert summary.energy_j == pytest.approx(525)


def test_throttling_is_shared_out_by_reason():
    columns = series(throttled=[0, 1, np.nan, 1])
    columns |= {"gpu0.throttle.sw_thermal": np.array([0, 1, np.nan, 1.0])}
    columns |= {"gpu0.throttle.power_cap": np.array([0, 0, np.nan, 0.0])}
    summary = summarise(columns, "gpu0")
    assert summary.throttled_share == pytest.approx(2 / 3)
    assert summary.throttle_shares == {"sw_thermal": pytest.approx(2 / 3)}


def test_a_span_leaves_the_rest_out():
    columns = series(power_w=[100, 200, 300, 400], memory_used_bytes=[1, 2, 9, 3])
    summary = summarise(columns, "gpu0", start_ns=0, end_ns=10**9)
    assert (summary.samples, summary.energy_j, summary.memory_peak_bytes) == (2, 150, 2)


def test_an_empty_span_has_no_figures():
    summary = summarise(series(power_w=[100, 200]), "gpu0", start_ns=10**12)
    assert summary.samples == 0
    assert summary.energy_j is None
    assert summary.memory_peak_bytes is None


def test_devices_are_listed():
    assert device_names({"gpu1.t_ns": np.zeros(1), "cpu.t_ns": np.zeros(1), "cpu.power_w": np.zeros(1)}) == (
        "cpu",
        "gpu1",
    )


@given(st.lists(st.floats(0, 1000), min_size=2, max_size=30), st.floats(0.1, 10))
def test_a_steady_power_integrates_to_power_times_time_and_energy_is_additive(powers, step_s):
    t_s = np.arange(len(powers)) * step_s
    values = np.array(powers)
    whole = integrate(values, t_s)
    assert whole == pytest.approx(float(np.trapezoid(values, t_s)) if hasattr(np, "trapezoid") else whole)
    cut = len(powers) // 2
    first = integrate(values[: cut + 1], t_s[: cut + 1])
    second = integrate(values[cut:], t_s[cut:])
    if first is not None and second is not None:
        assert first + second == pytest.approx(whole, abs=1e-6)
