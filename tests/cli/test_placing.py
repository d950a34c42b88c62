"""Why a GPU that was asked for is not there, in the doctor's words."""

from steptime.cli.placing import explained, place
from steptime.device.find import GpuSearch
from steptime.errors import DeviceError


def test_a_cpu_needs_no_reason_but_the_wish() -> None:
    assert place("cpu", GpuSearch((), "none", "?"), None).reason == "as asked"


def test_the_doctors_reason_and_remedy_are_given_with_what_was_found() -> None:
    error = explained(DeviceError("No GPU.", hint="?"), ("The driver is too old.", "install driver 580"))

    assert error.message == "No GPU. The doctor says: The driver is too old."
    assert error.hint == "Install driver 580. `steptime doctor` shows the evidence."


def test_without_a_rule_that_applies_the_error_stays_as_it_is() -> None:
    error = DeviceError("No GPU.", hint="Look at nvidia-smi.")

    assert explained(error, None) is error
