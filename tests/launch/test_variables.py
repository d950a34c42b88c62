"""The environment a worker starts with."""

from pathlib import Path

import pytest

from steptime.launch.variables import worker_variables
from steptime.plan.plan import Placement, Plan
from steptime.testing import make_plan


def on(visible_devices: str) -> Plan:
    import dataclasses

    placement = Placement(device="gpu:0", reason="as asked", visible_devices=visible_devices)
    return dataclasses.replace(make_plan(), placement=placement)


@pytest.mark.parametrize("visible", ["-1", "GPU-1234"])
def test_visible_devices_are_those_of_the_placement_whatever_was_set(visible: str) -> None:
    variables = worker_variables(on(visible), {"CUDA_VISIBLE_DEVICES": "0,1", "HOME": "/home"}, None)

    assert variables["CUDA_VISIBLE_DEVICES"] == visible
    assert variables["HOME"] == "/home"


def test_without_a_placement_the_visible_devices_stay() -> None:
    import dataclasses

    plan = dataclasses.replace(make_plan(), placement=None)

    assert "CUDA_VISIBLE_DEVICES" not in worker_variables(plan, {}, None)


def test_keras_computes_with_tensorflow_and_the_log_is_unbuffered() -> None:
    variables = worker_variables(on("-1"), {"KERAS_BACKEND": "jax"}, None)

    assert variables["KERAS_BACKEND"] == "tensorflow"
    assert variables["PYTHONUNBUFFERED"] == "1"


def test_bytecode_is_kept_where_it_can_be_written() -> None:
    variables = worker_variables(on("-1"), {"PYTHONDONTWRITEBYTECODE": "1"}, Path("/cache"))

    assert "PYTHONDONTWRITEBYTECODE" not in variables
    assert variables["PYTHONPYCACHEPREFIX"] == "/cache"


def test_a_bytecode_folder_that_a_person_chose_stays() -> None:
    variables = worker_variables(on("-1"), {"PYTHONPYCACHEPREFIX": "/mine"}, Path("/cache"))

    assert variables["PYTHONPYCACHEPREFIX"] == "/mine"


def test_the_inherited_variables_are_not_changed() -> None:
    inherited = {"PYTHONDONTWRITEBYTECODE": "1"}
    worker_variables(on("-1"), inherited, None)

    assert inherited == {"PYTHONDONTWRITEBYTECODE": "1"}
