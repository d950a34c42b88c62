"""How processes agree."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from steptime.engine.distribution.group import Group, agreed, group_of, group_under, has_others

pytestmark = pytest.mark.tensorflow


def group(*others: tuple[int, bool]) -> Any:
    """A group whose other workers say these steps and whether to stop."""
    rows = [[steps, float(stop)] for steps, stop in others]
    return SimpleNamespace(workers=1 + len(rows), gathered=lambda row: np.array([row, *rows], np.float64))


@pytest.mark.parametrize("alone", [None, group()])
def test_alone_nobody_is_asked(alone: Any) -> None:
    model: Any = SimpleNamespace(stop_training=False)
    assert agreed(alone, model, 7, stop=True) == (7, True)
    assert not has_others(alone)


def test_the_slowest_decides_and_one_who_stops_stops_all() -> None:
    model: Any = SimpleNamespace(stop_training=False)
    assert agreed(group((3, False), (9, False)), model, 7, stop=False) == (3, False)
    assert not model.stop_training
    assert agreed(group((3, True)), model, 7, stop=False) == (3, True)
    assert model.stop_training


def test_a_strategy_is_one_group_with_its_devices_and_in_words() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/CPU:0")
    found = group_under(strategy)
    assert found is not None
    assert found is group_under(strategy)
    assert (found.replicas, found.workers, found.rank, found.is_chief) == (1, 1, 0, True)
    assert [device.endswith("CPU:0") for device in found.devices] == [True]
    assert str(found) == "OneDeviceStrategy, 1 replica"
    assert str(Group(strategy, "X", 4, 2, 1)) == "X, 4 replicas in 2 processes"


def test_a_model_of_no_strategy_belongs_to_no_group() -> None:
    assert group_of(SimpleNamespace(_distribute_strategy=None)) is None  # type: ignore[arg-type]
    assert group_under(SimpleNamespace()) is None
