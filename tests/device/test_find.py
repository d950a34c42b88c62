import pytest

from steptime.device.find import find_gpus, open_gpu
from steptime.errors import DeviceError


def refuse():
    raise DeviceError("no NVIDIA driver: for this test", hint="install one")


def test_without_a_driver_there_is_a_reason_and_a_hint():
    search = find_gpus({}, refuse)
    assert search.gpus == ()
    assert search.usable == ()
    assert (search.reason, search.hint) == ("no NVIDIA driver: for this test", "install one")


def test_a_driver_without_cards_says_so(recorded_nvml):
    nvml = recorded_nvml("a100")
    nvml.answers["devices"] = []
    assert find_gpus({}, lambda: nvml).reason == "the NVIDIA driver works, but reports no GPU"


def test_a_plain_card_is_usable_and_nvml_is_closed_afterwards(recorded_nvml):
    nvml = recorded_nvml("a100")
    search = find_gpus({}, lambda: nvml)
    (gpu,) = search.usable
    assert (gpu.name, gpu.cuda_index, gpu.why_not) == ("gpu0", 0, None)
    assert gpu.visible_as == gpu.facts.uuid
    assert search.reason is None
    assert not nvml.is_open


@pytest.mark.parametrize("value", ["-1", "", "7", "GPU-ffff"])
def test_a_hidden_card_says_by_what(recorded_nvml, value):
    search = find_gpus({"CUDA_VISIBLE_DEVICES": value}, lambda: recorded_nvml("a100"))
    assert search.usable == ()
    assert f"hidden by CUDA_VISIBLE_DEVICES={value}" in search.reason
    assert "unset CUDA_VISIBLE_DEVICES" in search.hint


def test_a_list_that_ends_early_says_where(recorded_nvml):
    environ = {"CUDA_VISIBLE_DEVICES": "1,5,0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    search = find_gpus(environ, lambda: recorded_nvml("rtx4090_and_gtx1660"))
    first, second = search.gpus
    assert not first.usable
    assert "ends at '5'" in first.why_not
    assert second.usable
    assert second.cuda_index == 0


def test_the_number_inside_cuda_is_unknown_among_different_cards(recorded_nvml):
    search = find_gpus({}, lambda: recorded_nvml("rtx4090_and_gtx1660"))
    assert [gpu.usable for gpu in search.gpus] == [True, True]
    assert [gpu.cuda_index for gpu in search.gpus] == [None, None]


def test_a_card_that_computes_for_nobody_is_not_usable(recorded_nvml):
    nvml = recorded_nvml("a100")
    nvml.answers["devices"][0]["nvmlDeviceGetComputeMode"] = 2
    search = find_gpus({}, lambda: nvml)
    assert "prohibited" in search.reason
    assert "--compute-mode=DEFAULT" in search.hint


def test_of_a_card_in_mig_mode_only_the_slices_are_usable(recorded_nvml):
    search = find_gpus({}, lambda: recorded_nvml("a100_mig"))
    assert [(gpu.name, gpu.usable) for gpu in search.gpus] == [
        ("gpu0", False),
        ("gpu0mig0", True),
        ("gpu0mig2", True),
    ]
    assert all(gpu.visible_as.startswith("MIG-") for gpu in search.usable)


def test_mig_mode_without_slices_leaves_nothing_and_says_how_to_get_on(recorded_nvml):
    nvml = recorded_nvml("a100_mig")
    nvml.answers["devices"][0]["mig"] = []
    search = find_gpus({}, lambda: nvml)
    assert "MIG mode is on" in search.reason
    assert "nvidia-smi mig -cgi" in search.hint


def test_a_card_that_has_fallen_off_the_bus_is_passed_over(recorded_nvml):
    nvml = recorded_nvml("rtx4090_and_gtx1660")
    nvml.answers["devices"][0] = None
    call = nvml.call

    def lossy(function, *args):
        if function == "nvmlDeviceGetHandleByIndex" and args == (0,):
            from steptime.device.nvml import NvmlError

            raise NvmlError("NVML_ERROR_GPU_IS_LOST", "GPU is lost")
        return call(function, *args)

    nvml.call = lossy
    assert [gpu.name for gpu in find_gpus({}, lambda: nvml).gpus] == ["gpu1"]


def test_a_found_device_can_be_opened_for_sampling(recorded_nvml):
    (_, _, third) = find_gpus({}, lambda: recorded_nvml("a100_mig")).gpus
    device = open_gpu(third, connect=lambda: recorded_nvml("a100_mig"))
    assert device.name == "gpu0mig2"
    assert device.sample().memory_used_bytes == 37 * 2**20
    device.close()


def test_a_device_that_went_away_is_an_error(recorded_nvml):
    (_, second) = find_gpus({}, lambda: recorded_nvml("rtx4090_and_gtx1660")).gpus
    nvml = recorded_nvml("a100")
    with pytest.raises(DeviceError, match="gpu1 was found before"):
        open_gpu(second, connect=lambda: nvml)
    assert not nvml.is_open


def test_on_this_machine_the_search_gives_devices_or_a_reason():
    search = find_gpus()
    assert (search.reason is None) == bool(search.usable)
