"""What a person asked of TensorFlow, and when its devices are taken."""

import pytest

from steptime.errors import DeviceError
from steptime.testing import make_plan

pytestmark = pytest.mark.tensorflow


def test_a_gpu_that_was_asked_for_by_name_and_is_not_there_ends_the_script(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import tensorflow as tf

    from steptime.worker.script.set_up import set_up

    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [])

    with pytest.raises(DeviceError, match="It sees none"):
        set_up(make_plan(device="gpu"))
    set_up(make_plan(device="auto"))


def test_what_waits_for_the_devices_is_called_once() -> None:
    from tensorflow.python.eager import context

    from steptime.worker.script.set_up import when_initialised

    calls: list[str] = []
    when_initialised(lambda: calls.append("now"))
    assert calls == []

    context.context().ensure_initialized()
    context.context().ensure_initialized()

    assert calls == ["now"]
    assert "ensure_initialized" not in vars(context.context())
