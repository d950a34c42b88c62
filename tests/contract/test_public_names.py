"""What steptime promises to the world."""

import importlib.util

import pytest

import steptime


def test_every_public_name_is_declared_once_and_can_be_located() -> None:
    declared = set(steptime.__all__)
    assert declared == {"__version__", *steptime._PUBLIC}
    for module in set(steptime._PUBLIC.values()):
        assert importlib.util.find_spec(module) is not None, module


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        steptime.nothing  # noqa: B018
