"""Why a GPU that was asked for is not there, in the doctor's words."""

import pytest

from steptime.cli.placing import explained, place, place_joined
from steptime.device.find import GpuSearch
from steptime.device.testing import make_gpu
from steptime.errors import DeviceError
from steptime.plan.cluster import Place


def test_a_cpu_needs_no_reason_but_the_wish() -> None:
    assert place("cpu", GpuSearch((), "none", "?"), None).reason == "as asked"


def test_the_doctors_reason_and_remedy_are_given_with_what_was_found() -> None:
    error = explained(DeviceError("No GPU.", hint="?"), ("The driver is too old.", "install driver 580"))

    assert error.message == "No GPU. The doctor says: The driver is too old."
    assert error.hint == "Install driver 580. `steptime doctor` shows the evidence."


def test_without_a_rule_that_applies_the_error_stays_as_it_is() -> None:
    error = DeviceError("No GPU.", hint="Look at nvidia-smi.")

    assert explained(error, None) is error


def gpus(count: int) -> GpuSearch:
    return GpuSearch(tuple(make_gpu(index) for index in range(count)), None, None)


@pytest.mark.parametrize(
    ("rank", "seen", "devices", "variables", "visible"),
    [
        (0, 4, "1", {}, "GPU-0"),
        (1, 4, "1", {}, "GPU-1"),
        (3, 4, "2", {}, "GPU-2,GPU-3"),
        (3, 4, "all", {}, "GPU-2,GPU-3"),
        (1, 1, "1", {}, "GPU-0"),  # this task sees its own only
        (1, 2, "all", {"SLURM_GPUS_PER_TASK": "2"}, "GPU-0,GPU-1"),
        (4, 4, "1", {}, "GPU-0"),  # alone on its machine
    ],
)
def test_workers_of_one_machine_take_different_gpus(
    rank: int, seen: int, devices: str, variables: dict[str, str], visible: str
) -> None:
    joined = Place(addresses=("a:1", "a:2", "b:1", "b:2", "c:1"), rank=rank)

    assert place_joined("auto", gpus(seen), None, devices, joined, variables).visible_devices == visible
    assert place_joined("cpu", gpus(seen), None, "1", joined, variables).device == "cpu"
