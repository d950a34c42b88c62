"""Keras 2 is measured and not accelerated. The one here is a stand-in with its interface; the real one if installed."""

from types import ModuleType
from typing import Any

import pytest

from steptime.worker.script.keras2 import replace_fit


class Callback:
    """What Keras 2's own class offers to its subclasses."""

    def __init__(self) -> None:
        self.model: Any = None


class Model:
    """Trains for as many epochs as asked, two steps each."""

    def fit(self, x: Any = None, y: Any = None, epochs: int = 1, callbacks: Any = None) -> Any:
        for epoch in range(epochs):
            for callback in callbacks or []:
                callback.on_epoch_begin(epoch)
                for batch in range(2):
                    callback.on_train_batch_begin(batch)
                    callback.on_train_batch_end(batch, {"loss": 1.0})
        return ModuleType("history")


class Seen:
    """A session and an observer in one, which keeps what it is told."""

    def __init__(self) -> None:
        self.blocks: list[dict[str, Any]] = []
        self.decisions: list[str] = []
        self.arguments: Any = None

    def measure(self, model: Any, arguments: Any, train: Any, *, inspect: bool) -> Any:
        assert not inspect
        self.arguments = arguments
        return train(self)

    def on_block(self, **fields: Any) -> None:
        self.blocks.append(fields)

    def on_validation(self, *, epoch: int, duration_ns: int) -> None:
        raise AssertionError

    def on_decision(self, text: str) -> None:
        self.decisions.append(text)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    keras = ModuleType("tf_keras")
    keras.__version__ = "2.20.0"  # type: ignore[attr-defined]
    keras.Model = Model  # type: ignore[attr-defined]
    keras.callbacks = ModuleType("callbacks")  # type: ignore[attr-defined]
    keras.callbacks.Callback = Callback  # type: ignore[attr-defined]
    monkeypatch.setattr(Model, "fit", Model.fit)  # is put back afterwards
    found = Seen()
    replace_fit(keras, found)  # type: ignore[arg-type]
    return found


def test_every_step_is_told_and_the_reason_says_that_nothing_is_faster(seen: Seen) -> None:
    history = Model().fit("x", epochs=2)

    assert [(block["epoch"], block["first_step"]) for block in seen.blocks] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    assert [block["compiled"] for block in seen.blocks] == [True, False, False, False]
    assert seen.decisions == ["keras: Keras 2.20.0 is measured, not accelerated"]
    assert history.steptime.loop == "keras"  # type: ignore[attr-defined]
    assert (seen.arguments.x, seen.arguments.epochs) == ("x", 2)


def test_the_scripts_own_callbacks_are_called_and_their_list_is_left_alone(seen: Seen) -> None:
    calls: list[int] = []

    class Own(Callback):
        def on_epoch_begin(self, epoch: int) -> None:
            calls.append(epoch)

        def on_train_batch_begin(self, batch: int) -> None: ...

        def on_train_batch_end(self, batch: int, logs: Any) -> None: ...

    given = [Own()]
    Model().fit(epochs=1, callbacks=given)

    assert calls == [0]
    assert len(given) == 1


def test_arguments_that_keras_does_not_know_are_left_to_it(seen: Seen) -> None:
    with pytest.raises(TypeError, match="no_such"):
        Model().fit(no_such=1)

    assert seen.blocks == []
