"""A training that is interrupted and goes on ends as if nothing had happened, to the last bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steptime
from steptime.engine.checkpoints import format as files
from steptime.errors import UsageError
from steptime.record.lock import lock

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),  # in Keras
]

keras = pytest.importorskip("keras")


@pytest.mark.parametrize(
    ("kind", "loop"),
    [
        ("arrays", "graph"),
        ("arrays", "xla"),
        ("dataset", "graph"),
        ("dataset that goes on", "graph"),
        ("dataset of unknown length", "graph"),
        ("generator", "graph"),
    ],
)
@pytest.mark.filterwarnings("ignore:Your input ran out of data")  # Keras' own, of data of unknown length
def test_twice_interrupted_is_never_interrupted(job: Any, tmp_path: Path, kind: str, loop: str) -> None:
    whole = job.train(kind, loop, tmp_path / "whole", policy={"every": "2steps"})
    folder = tmp_path / "interrupted"
    job.interrupt(kind, loop, folder, 0)  # within the first epoch

    job.interrupt(kind, loop, folder, 4)  # somewhere else, in pieces of other lengths
    resumed = job.train(kind, loop, folder, policy={"every": "1steps"})

    assert job.end_of(resumed) == job.end_of(whole)
    assert resumed[1].steptime.loop == whole[1].steptime.loop
    assert len(files.listed(folder)) == 3


def test_a_validation_that_is_left_is_begun_again_from_the_same_weights(job: Any, tmp_path: Path) -> None:
    class Leave(keras.callbacks.Callback):
        def __init__(self, epoch: int) -> None:
            super().__init__()
            self.epoch = epoch

        def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
            if len(self.model.history.epoch) == self.epoch:
                raise steptime.StopRequested

    with pytest.raises(steptime.StopRequested):
        job.train("arrays", "graph", tmp_path, callbacks=[Leave(1)])

    (path,) = files.listed(tmp_path)
    assert files.read_state(path)["position"] == {
        "epoch": 1, "step": job.STEPS, "phase": "validation", "steps_done": 2 * job.STEPS, "stopped": False,
    }  # fmt: skip
    # A callback that watches each batch of a validation decides about its batch size: it is there in all three.
    resumed = job.train("arrays", "graph", tmp_path, callbacks=[Leave(-1)])
    assert job.end_of(resumed) == job.end_of(job.train("arrays", "graph", None, callbacks=[Leave(-1)]))


def test_an_ended_training_is_not_trained_again_and_can_be_made_longer(job: Any, tmp_path: Path) -> None:
    job.train("arrays", "graph", tmp_path, epochs=2)

    again = job.train("arrays", "graph", tmp_path, epochs=2)
    longer = job.train("arrays", "graph", tmp_path)

    assert again[1].epoch == [0, 1]
    assert again[1].steptime.segments == ()
    assert longer[1].history == job.train("arrays", "graph", None)[1].history


def test_a_loss_that_is_no_number_never_replaces_a_good_checkpoint(job: Any, tmp_path: Path) -> None:
    said: list[str] = []
    weight = np.ones(len(job.X), "float32")
    job.interrupt("arrays", "graph", tmp_path, 3, sample_weight=weight, policy={"every": "1steps"})
    good = [path.name for path in files.listed(tmp_path)]

    model = job.build()
    model.compile(model.optimizer, lambda y, p: keras.ops.sum(p, -1) * np.nan)
    policy = {"every": "1steps", "tell": said.append, "allow_different": True}
    job.train("arrays", "graph", tmp_path, model=model, sample_weight=weight, policy=policy)

    assert [path.name for path in files.listed(tmp_path)] == good
    assert sum("not a number" in text for text in said) == 1


def test_what_only_keras_can_do_is_refused_or_goes_without(job: Any, tmp_path: Path) -> None:
    model = job.build()
    model.run_eagerly = True

    with pytest.raises(UsageError, match="run_eagerly"):
        job.train("arrays", "auto", tmp_path, model=model)
    _, history, _ = job.train("arrays", "auto", tmp_path, model=model, epochs=1, policy={"required": False})

    assert history.steptime.checkpoints is None
    assert files.listed(tmp_path) == []


@pytest.mark.parametrize(("resume", "folder"), [(True, "empty"), (False, "kept")])
def test_whoever_insists_is_heard(job: Any, kept: Path, tmp_path: Path, resume: bool, folder: str) -> None:
    with pytest.raises(UsageError, match="must hold"):
        job.train("arrays", "graph", kept if folder == "kept" else tmp_path, policy={"resume": resume})


def test_two_trainings_do_not_share_a_folder(job: Any, tmp_path: Path) -> None:
    with lock(tmp_path), pytest.raises(UsageError, match="One process at a time"):
        job.train("arrays", "graph", tmp_path)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"every": "sometimes"}, "200steps"),
        ({"every": "none"}, "how often"),
        ({"keep": 0}, "keep"),
        ({"resume": "perhaps"}, "resume"),
    ],
)
def test_wrong_wishes_are_refused(given: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        steptime.Checkpoints(folder="x", **given)


def test_a_callback_that_cannot_be_kept_is_named(job: Any, tmp_path: Path) -> None:
    said: list[str] = []

    class Forgets(keras.callbacks.Callback):
        pass

    job.interrupt("arrays", "graph", tmp_path, 0, callbacks=[Forgets()], policy={"tell": said.append})

    assert said == ["callback Forgets has no get_state and set_state: it starts afresh after a resume"]


@pytest.mark.parametrize("state", [{1, 2}, ValueError("not now")])
def test_a_callback_whose_state_cannot_be_written_is_named_and_the_training_goes_on(
    job: Any, tmp_path: Path, state: Any
) -> None:
    said: list[str] = []

    class Odd(keras.callbacks.Callback):
        def get_state(self) -> Any:
            if isinstance(state, Exception):
                raise state
            return {"seen": np.zeros(3), "odd": state}

        def set_state(self, state: Any) -> None:
            raise AssertionError(state)

    policy = {"every": "1epochs", "tell": said.append}
    job.train("arrays", "graph", tmp_path, callbacks=[Odd()], epochs=2, policy=policy)
    job.train("arrays", "graph", tmp_path, callbacks=[Odd()], epochs=3, policy=policy)

    assert sum("the state of callback Odd cannot be kept" in text for text in said) == 2


def test_a_validation_loss_that_is_no_number_costs_no_checkpoint(job: Any, tmp_path: Path) -> None:
    held = (job.X[:20] * np.inf, job.Y[:20])
    policy = {"every": "1epochs", "best": "val_loss"}

    job.train("arrays", "graph", tmp_path, validation_data=held, epochs=2, policy=policy)

    assert len(files.listed(tmp_path)) == 2


def test_blocks_stay_long_after_a_loss_that_is_no_number(job: Any, tmp_path: Path) -> None:
    blocks: list[int] = []

    class Blocks:
        def on_block(self, *, n_steps: int, **_: Any) -> None:
            blocks.append(n_steps)

        def on_validation(self, **_: Any) -> None:
            pass

        def on_decision(self, text: str) -> None:
            pass

    model = job.build()
    model.compile("sgd", lambda y, p: keras.ops.sum(p, -1) * np.nan)
    job.train(
        "arrays", "graph", tmp_path, model=model, batch_size=1, observer=Blocks(), policy={"every": "20steps"}
    )

    assert sum(blocks) == 4 * len(job.X)
    assert blocks.count(1) < 10


def test_the_cost_is_measured(job: Any, tmp_path: Path) -> None:
    cost = job.train("arrays", "graph", tmp_path, epochs=1)[1].steptime.checkpoints

    assert cost is not None
    assert cost.written == 1
    assert cost.bytes > 1000
    assert cost.stall_s > 0
    assert 0 < cost.share < 1
    assert cost.write_s > 0
