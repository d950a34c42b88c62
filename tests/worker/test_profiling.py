"""A job taken apart from end to end, in this process: what lies in the run folder afterwards."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
keras = pytest.importorskip("keras")
tf = pytest.importorskip("tensorflow")

from steptime.analysis.dissect import dissect  # noqa: E402
from steptime.engine.timing.session import Pace  # noqa: E402
from steptime.errors import RunError  # noqa: E402
from steptime.plan.settings import Settings  # noqa: E402
from steptime.record.operations import Operations, read_operations  # noqa: E402
from steptime.record.profile import Profile, read_profile  # noqa: E402
from steptime.record.schema import Job  # noqa: E402
from steptime.testing import make_ceilings, make_run  # noqa: E402
from steptime.worker.data import Part  # noqa: E402
from steptime.worker.profiling import TRACE_FOLDER, Profiling  # noqa: E402
from steptime.worker.tracing import newest_trace  # noqa: E402

X = np.random.default_rng(0).normal(size=(2048, 64)).astype("float32")
Y = np.arange(2048) % 3
JOB = Job(
    model="points", parameters=17_411, train_samples=2048, validation_samples=64, batch_size=64, steps_per_epoch=32,
    compiled_by="settings", optimizer="Adam", loss="a loss",
)  # fmt: skip


def model(**compiled: Any) -> Any:
    made = keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(256, activation="relu", name="hidden"),
            keras.layers.Dense(3),
        ],
        name="points",
    )
    made.compile(
        "adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"], **compiled
    )
    return made


def taken_apart(folder: Path, made: Any, **given: Any) -> tuple[Profile, Operations | None]:
    profiling = Profiling(
        folder=folder,
        settings=Settings(batch_size=64, epochs=3, loop=given.pop("loop", "graph")),
        device="cpu",
        note=lambda text: None,
        is_stopped=given.pop("is_stopped", lambda: False),
        pace=Pace(slice_s=0.005, rounds=2),
    )
    training = given.get("training", Part(x=X, y=Y))
    profiling.run(made, training, Part(x=X[:64], y=Y[:64]), given.get("callbacks", []), JOB)
    profile = read_profile(folder)
    assert profile is not None
    return profile, read_operations(folder)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Profile, Operations]:
    folder = tmp_path_factory.mktemp("graph")
    profile, operations = taken_apart(folder, model())
    assert operations is not None
    return folder, profile, operations


def test_everything_is_measured_and_nothing_is_missing_but_what_has_a_reason(graph: Any) -> None:
    _, profile, _ = graph

    assert all(
        getattr(profile.timings, name).step_s
        for name in ("as_is", "repeated", "input", "resident", "doubled")
    )
    assert profile.trace is not None
    assert profile.counts is not None
    assert profile.validation is not None
    assert set(profile.unavailable) == {"python"}


def test_arithmetic_is_counted_by_layer_and_in_all(graph: Any) -> None:
    _, profile, _ = graph

    hidden = next(layer for layer in profile.layers if layer.name == "hidden")
    assert (hidden.kind, hidden.width, hidden.parameters) == ("Dense", 256, 64 * 256 + 256)
    # A product, adding the bias, the activation.
    assert hidden.forward_flops == 2 * 64 * 64 * 256 + 64 * 256 + 64 * 256
    # Forward, and the gradients by weights; by the hidden layer's output too, but not by the data.
    assert profile.counts.heavy_flops == 2 * (2 * 64 * 64 * 256) + 3 * (2 * 64 * 256 * 3)
    # Adam reads and writes each weight and its two moments.
    assert profile.counts.fixed_bytes > 6 * 4 * 17_411


def test_the_trace_is_digested_by_layer_and_kept_for_tensorboard(graph: Any) -> None:
    folder, profile, operations = graph

    assert newest_trace(folder / TRACE_FOLDER) is not None
    layers = {item.layer: item for item in operations.layers}
    assert layers["hidden"].forward_s > 0
    assert layers["hidden"].backward_s > 0
    assert any(kind.group == "matmul" for kind in operations.kinds)
    assert any(node.flops == 2 * 64 * 64 * 256 for node in operations.nodes)
    assert operations.steps == profile.trace.steps


def test_what_was_measured_can_be_taken_apart_without_tensorflow(graph: Any) -> None:
    _, profile, operations = graph
    anatomy = dissect(profile, operations, make_ceilings(), make_run())

    assert sum(anatomy.shares.values()) + anatomy.residual_share == pytest.approx(1)
    assert anatomy.best_step_s > 0


def test_keras_own_loop_shows_where_python_spends_its_time(tmp_path: Path) -> None:
    profile, operations = taken_apart(tmp_path, model(), loop="keras")

    assert any(cost.part.startswith("TensorFlow") for cost in profile.python)
    assert operations is not None


def test_a_step_that_neither_traces_nor_counts_still_has_its_timings(tmp_path: Path) -> None:
    class Eager(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(3)

        def call(self, x: Any) -> Any:
            return self.dense(x * float(np.asarray(x).shape[0] > 0))

    made = Eager()
    made.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=True)
    profile, _ = taken_apart(tmp_path, made)

    assert profile.timings.as_is.step_s
    assert profile.counts is None
    assert profile.unavailable["counts"]


def test_a_training_that_ends_before_a_step_can_be_timed_is_an_error(tmp_path: Path) -> None:
    class Stops(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.model.stop_training = True

    with pytest.raises(RunError, match="At least a few training steps"):
        taken_apart(tmp_path, model(), callbacks=[Stops()])
