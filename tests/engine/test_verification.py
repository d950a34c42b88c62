"""A loop is used only when its first step is Keras' own step."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")
import tensorflow as tf  # noqa: E402

from steptime.engine import private_keras, state  # noqa: E402
from steptime.engine.feeds.arrays import ArrayFeed  # noqa: E402
from steptime.engine.feeds.feed import Claim  # noqa: E402
from steptime.engine.loops.keras import KerasLoop  # noqa: E402
from steptime.engine.loops.loop import Outcome  # noqa: E402
from steptime.engine.step import step_function  # noqa: E402
from steptime.engine.verification import Verifier  # noqa: E402

CLAIM = Claim(first=0, position=0, steps=1)


class Scene:
    """A model, its data, and a verifier."""

    def __init__(self, *layers, step_model=None, copy_limit_bytes=1 << 20, optimizer="adam"):
        keras.utils.set_random_seed(3)
        self.model = step_model or keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(1)])
        self.model.compile(optimizer, "mse")
        rng = np.random.default_rng(0)
        x, y = rng.normal(size=(8, 4)).astype("float32"), rng.normal(size=(8, 1)).astype("float32")
        self.feed = ArrayFeed(private_keras.as_arrays(x=x, y=y, batch_size=8))
        function = step_function(self.model, "train_step")
        self.step = function.traced(self.feed.element_spec)
        self.keras_loop = KerasLoop(function, self.feed)
        self.verifier = Verifier(
            self.keras_loop, self.feed, self.step, coarse=False, copy_limit_bytes=copy_limit_bytes
        )

    def values(self):
        return state.read(self.step.variables)

    def after_one_keras_step(self):
        before = self.values()
        self.keras_loop.run(CLAIM)
        after = self.values()
        state.write(self.step.variables, before)
        return after


class FakeLoop:
    """Runs the traced step and then spoils it."""

    def __init__(self, scene, name="xla", spoil=lambda scene: None):
        self.name = name
        self._scene = scene
        self._spoil = spoil

    def run(self, claim):
        logs = self._scene.step(self._scene.feed.batch(claim.position))
        self._spoil(self._scene)
        return Outcome(steps=1, logs=logs)


def test_the_same_step_is_accepted_and_trained_once():
    scene = Scene()
    expected = scene.after_one_keras_step()
    verdict = scene.verifier.first_step(FakeLoop(scene), CLAIM)
    assert verdict.accepted
    assert verdict.text == "bit-equal to Keras' own step"
    assert all(np.array_equal(a, b) for a, b in zip(scene.values(), expected, strict=True))


def wrong_weight(scene):
    scene.model.layers[-1].kernel.assign_add([[1e-3]] * 4)


def wrong_count(scene):
    scene.model.optimizer.iterations.assign_add(1)


def no_update(scene):
    scene.model.layers[-1].bias.assign([0.0])


def out_of_memory(scene):
    wrong_weight(scene)
    raise tf.errors.ResourceExhaustedError(None, None, "no memory left")


@pytest.mark.parametrize("spoil", [wrong_weight, wrong_count, no_update, out_of_memory])
def test_a_step_that_is_wrong_or_fails_is_undone_and_replaced_by_keras_own(spoil):
    scene = Scene()
    expected = scene.after_one_keras_step()
    verdict = scene.verifier.first_step(FakeLoop(scene, spoil=spoil), CLAIM)
    assert not verdict.accepted
    assert verdict.text.startswith(("dropped: ", "failed: ResourceExhaustedError"))
    assert verdict.outcome.steps == 1
    assert all(np.array_equal(a, b) for a, b in zip(scene.values(), expected, strict=True))


def test_rounding_that_adam_blows_up_is_not_taken_for_an_error():
    """The gradient of a bias before batch normalisation is zero but for rounding."""

    def nudge(scene):
        bias = scene.model.layers[0].bias
        bias.assign_add(keras.random.normal((3,), stddev=5e-4, seed=1))

    scene = Scene(
        keras.layers.Dense(3), keras.layers.BatchNormalization(), optimizer=keras.optimizers.Adam(1e-2)
    )
    verdict = scene.verifier.first_step(FakeLoop(scene, spoil=nudge), CLAIM)
    assert verdict.accepted
    assert "which is rounding" in verdict.text


def test_random_steps_are_compared_by_the_size_of_their_updates():
    scene = Scene(keras.layers.Dropout(0.5))
    assert scene.step.is_random
    verdict = scene.verifier.first_step(FakeLoop(scene), CLAIM)
    assert verdict.accepted
    assert "4 random draws" in verdict.text


def test_a_random_step_of_the_wrong_size_is_dropped():
    scene = Scene(keras.layers.Dropout(0.5))
    verdict = scene.verifier.first_step(
        FakeLoop(scene, spoil=lambda s: s.model.layers[-1].kernel.assign_add([[0.5]] * 4)), CLAIM
    )
    assert not verdict.accepted
    assert "kernel" in verdict.text


def test_the_graph_loop_draws_the_same_random_numbers_and_is_compared_exactly():
    scene = Scene(keras.layers.Dropout(0.5))
    verdict = scene.verifier.first_step(FakeLoop(scene, name="graph"), CLAIM)
    assert verdict.text == "bit-equal to Keras' own step"


class Printing(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.count = self.add_weight(shape=(), initializer="zeros", trainable=False, name="count")

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        tf.print("a step", output_stream="file:///dev/null")
        self.count.assign_add(1.0)
        return super().train_step(data)


def test_a_step_with_side_effects_runs_once():
    scene = Scene(step_model=Printing())
    verdict = scene.verifier.first_step(FakeLoop(scene, name="graph"), CLAIM)
    assert verdict.accepted
    assert "PrintV2" in verdict.text
    assert (
        float(scene.model.count.numpy() if hasattr(scene.model.count, "numpy") else scene.model.count) == 1.0
    )


def test_without_memory_for_copies_only_the_loop_of_the_same_function_is_trusted():
    scene = Scene(copy_limit_bytes=10)
    expected = scene.after_one_keras_step()
    verdict = scene.verifier.first_step(FakeLoop(scene, spoil=wrong_weight), CLAIM)
    assert not verdict.accepted
    assert "copies of weights" in verdict.text
    assert all(np.array_equal(a, b) for a, b in zip(scene.values(), expected, strict=True))
    assert scene.verifier.first_step(FakeLoop(scene, name="graph"), CLAIM).accepted
