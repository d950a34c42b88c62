from dataclasses import fields

import pytest

from steptime.device.device import DeviceFacts, Sample
from steptime.device.nvidia import _FACTS, _SENSORS, _SYSTEM_FACTS, NvidiaGpu

PID = 4242


def gpu(nvml, index=0, mig_index=None):
    handle = nvml.answers["devices"][index]
    if mig_index is not None:
        handle = handle["mig"][mig_index]
    return NvidiaGpu(nvml, handle, index=index, mig_index=mig_index, pid=PID)


def test_facts_of_a_whole_a100_are_complete(recorded_nvml):
    facts = gpu(recorded_nvml("a100")).describe()
    assert facts.name == "NVIDIA A100-SXM4-40GB"
    assert facts.uuid == "GPU-5f3b1a52-6c1e-9d0b-7a44-2f8e6b1c9d10"
    assert facts.memory_bytes == 40960 * 2**20
    assert (facts.driver, facts.cuda_version) == ("550.54.15", "12.4")
    assert facts.compute_capability == "8.0"
    assert (facts.power_limit_w, facts.power_limit_default_w) == (400, 400)
    assert (facts.pcie_generation, facts.pcie_width) == (4, 16)
    assert (facts.mig_mode, facts.compute_mode) == ("disabled", "default")
    assert (facts.max_clock_mhz, facts.max_memory_clock_mhz) == (1410, 1215)
    # Whether the driver sees this process is known only after the first busy sample.
    assert set(facts.unavailable) == {"own_utilisation_share"}


def test_samples_of_a_whole_a100_have_all_readings_in_our_units(recorded_nvml):
    device = gpu(recorded_nvml("a100"))
    sample = device.sample()
    assert sample.utilisation_share == 0.97
    assert sample.own_utilisation_share == 0.90
    assert sample.memory_used_bytes == 38417 * 2**20
    assert sample.power_w == pytest.approx(318.45)
    assert sample.energy_j == pytest.approx(63.7)  # since the device was opened
    assert sample.temperature_c == 47
    assert sample.clock_mhz == 1410
    assert sample.throttle_reasons == ()
    later = device.sample()
    assert later.throttle_reasons == ("power_cap",)
    assert later.energy_j == pytest.approx(128.1)
    assert later.t_ns > sample.t_ns
    assert "own_utilisation_share" not in device.describe().unavailable


def test_own_share_is_zero_only_after_the_driver_has_shown_this_process(recorded_nvml):
    device = gpu(recorded_nvml("a100"))
    assert device.sample().own_utilisation_share == 0.90
    assert device.sample().own_utilisation_share == 0.0

    stranger = recorded_nvml("a100")
    device = NvidiaGpu(stranger, stranger.answers["devices"][0], index=0, pid=1)
    assert device.sample().own_utilisation_share is None
    assert device.describe().unavailable["own_utilisation_share"] == "NVML does not list this process"


def test_a_capped_and_hot_consumer_card_tells_both_reasons_and_its_lowered_limit(recorded_nvml):
    device = gpu(recorded_nvml("rtx4090_and_gtx1660"))
    sample, facts = device.sample(), device.describe()
    assert sample.throttle_reasons == ("power_cap", "sw_thermal")
    assert (facts.power_limit_w, facts.power_limit_default_w) == (400, 450)
    assert sample.energy_j is None
    assert "nvmlDeviceGetTotalEnergyConsumption" in facts.unavailable["energy_j"]
    assert facts.mig_mode is None


def test_a_virtual_t4_gives_reasons_for_all_it_lacks(recorded_nvml):
    device = gpu(recorded_nvml("t4_virtual"))
    sample, facts = device.sample(), device.describe()
    assert sample.utilisation_share == 0.41
    for field in ("power_w", "energy_j", "temperature_c", "clock_mhz", "throttle_reasons"):
        assert getattr(sample, field) is None
        assert "NVML_ERROR_NOT_SUPPORTED" in facts.unavailable[field]
    assert facts.power_limit_w is None
    assert facts.pcie_generation is None


def test_a_mig_slice_has_its_own_memory_and_no_sensors_of_the_card(recorded_nvml):
    device = gpu(recorded_nvml("a100_mig"), mig_index=2)
    sample, facts = device.sample(), device.describe()
    assert device.name == "gpu0mig2"
    assert (facts.index, facts.mig_index) == (0, 2)
    assert facts.uuid.startswith("MIG-")
    assert facts.memory_bytes == 40192 * 2**20
    assert sample.memory_used_bytes == 37 * 2**20
    assert sample.power_w is None
    assert sample.utilisation_share is None


@pytest.mark.parametrize(
    "code", ["NVML_ERROR_NOT_SUPPORTED", "NVML_ERROR_NO_PERMISSION", "NVML_ERROR_GPU_IS_LOST"]
)
@pytest.mark.parametrize("query", _FACTS + _SYSTEM_FACTS, ids=lambda query: query.field)
def test_every_fact_can_be_refused_and_is_then_none_with_a_reason(recorded_nvml, query, code):
    nvml = recorded_nvml("a100")
    place = nvml.answers["devices"][0] if query in _FACTS else nvml.answers["system"]
    place[query.function] = {"error": code}
    facts = gpu(nvml).describe()
    assert getattr(facts, query.field) is None
    assert query.function in facts.unavailable[query.field]
    assert code in facts.unavailable[query.field]


@pytest.mark.parametrize(
    "code", ["NVML_ERROR_NOT_SUPPORTED", "NVML_ERROR_FUNCTION_NOT_FOUND", "NVML_ERROR_UNKNOWN"]
)
@pytest.mark.parametrize("query", _SENSORS, ids=lambda query: query.field)
def test_every_sensor_can_be_refused_and_is_then_none_with_a_reason(recorded_nvml, query, code):
    nvml = recorded_nvml("a100")
    nvml.answers["devices"][0][query.function] = {"error": code}
    device = gpu(nvml)
    sample = device.sample()
    assert getattr(sample, query.field) is None
    assert code in device.describe().unavailable[query.field]
    others = {field.name for field in fields(Sample)} - {query.field}
    assert all(getattr(sample, other) is not None for other in others)


def test_the_process_query_can_be_refused(recorded_nvml):
    nvml = recorded_nvml("a100")
    nvml.answers["devices"][0]["nvmlDeviceGetProcessUtilization"] = {"error": "NVML_ERROR_NOT_SUPPORTED"}
    device = gpu(nvml)
    assert device.sample().own_utilisation_share is None
    assert "NVML_ERROR_NOT_SUPPORTED" in device.describe().unavailable["own_utilisation_share"]


def test_a_sensor_refused_for_good_is_not_asked_again_and_a_passing_fault_is(recorded_nvml):
    nvml = recorded_nvml("a100")
    card = nvml.answers["devices"][0]
    card["nvmlDeviceGetPowerUsage"] = {"error": "NVML_ERROR_NOT_SUPPORTED"}
    card["nvmlDeviceGetTemperature"] = {"each": [{"error": "NVML_ERROR_TIMEOUT"}, 50]}
    device = gpu(nvml)
    nvml.calls.clear()
    sample = device.sample()
    assert "nvmlDeviceGetPowerUsage" not in nvml.calls
    assert sample.temperature_c == 50
    assert "temperature_c" not in device.describe().unavailable


@pytest.mark.parametrize("field", ["power_w", "energy_j", "clock_mhz"])
def test_a_reading_of_zero_where_zero_is_impossible_is_unknown(recorded_nvml, field):
    query = next(query for query in _SENSORS if query.field == field)
    nvml = recorded_nvml("a100")
    nvml.answers["devices"][0][query.function] = 0
    device = gpu(nvml)
    assert getattr(device.sample(), field) is None
    assert "gives no reading" in device.describe().unavailable[field]


@pytest.mark.parametrize("recording", ["a100", "rtx4090_and_gtx1660", "t4_virtual", "a100_mig"])
def test_no_field_is_none_without_a_reason(recorded_nvml, recording):
    device = gpu(recorded_nvml(recording))
    sample, facts = device.sample(), device.describe()
    for quantity in fields(Sample):
        assert getattr(sample, quantity.name) is not None or quantity.name in facts.unavailable
    for fact in fields(DeviceFacts):
        if fact.name != "mig_index":
            assert getattr(facts, fact.name) is not None or fact.name in facts.unavailable


def test_close_closes_the_driver(recorded_nvml):
    nvml = recorded_nvml("a100")
    gpu(nvml).close()
    assert not nvml.is_open
