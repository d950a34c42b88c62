"""A script, run until its first fit."""

import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow
keras = pytest.importorskip("keras")
np = pytest.importorskip("numpy")

from steptime.engine.request import FitRequest  # noqa: E402
from steptime.errors import RunError, UsageError  # noqa: E402
from steptime.plan.settings import Settings  # noqa: E402
from steptime.worker.script_profile import (  # noqa: E402
    callbacks_of,
    data_of,
    profile_first_fit,
    settings_of,
)

SCRIPT = """
import keras, numpy as np, sys
assert __name__ == "__main__" and sys.argv[1:] == ["--fast"]
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
x = np.zeros((20, 4), "float32")
model.fit(x, x[:, :1], 5, epochs=7, validation_data=(x, x[:, :1]))
raise SystemExit("nothing after the fit may run")
"""


def test_the_first_fit_is_handed_over_with_its_arguments_and_the_script_ends_there(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    seen: list[tuple[Any, ...]] = []
    before = list(sys.argv), list(sys.path), keras.Model.fit

    profile_first_fit(script, ("--fast",), Settings(), lambda *given: seen.append(given))

    ((model, data, job, callbacks, settings),) = seen
    assert model.compiled
    assert (job.batch_size, data.training.samples, callbacks) == (5, 20, [])
    assert (settings.batch_size, settings.epochs) == (5, 7)
    assert before == (sys.argv, sys.path, keras.Model.fit)


def test_a_script_without_fit_is_said_to_be_one(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("def main(): ...\n")

    with pytest.raises(UsageError, match="must call fit"):
        profile_first_fit(script, (), Settings(), lambda *given: None)


def test_a_script_that_fails_is_named_with_its_line(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("\n\n1 / 0\n")

    with pytest.raises(RunError, match="ZeroDivisionError"):
        profile_first_fit(script, (), Settings(), lambda *given: None)


def test_arguments_of_a_fit_become_data_settings_and_callbacks() -> None:
    x = np.zeros((20, 4), "float32")
    history = keras.callbacks.History()
    request = FitRequest(
        x, x[:, :1], None, 3, callbacks=[history], validation_data=(x, x[:, :1]), shuffle=False
    )

    data = data_of(request)
    settings = settings_of(request, Settings(loop="graph"))

    assert (data.training.samples, data.validation.samples) == (20, 20)
    assert (settings.epochs, settings.batch_size, settings.shuffle, settings.loop) == (3, 32, False, "graph")
    assert callbacks_of(request) == [history]
