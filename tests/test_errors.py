"""Classes of errors and their exit codes."""

import pytest

from steptime import errors


@pytest.mark.parametrize(
    ("kind", "code"),
    [(errors.UsageError, 2), (errors.DeviceError, 2), (errors.RecordError, 2), (errors.RunError, 3)],
)
def test_each_error_has_message_hint_and_exit_code(kind: type[errors.SteptimeError], code: int) -> None:
    error = kind("expected a, received b", hint="do c")

    assert (str(error), error.message, error.hint) == ("expected a, received b",) * 2 + ("do c",)
    assert error.exit_code == code
    assert isinstance(error, errors.SteptimeError)


def test_an_error_without_a_hint_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="hint"):
        errors.UsageError("expected a")  # type: ignore[call-arg]
