"""Trains the same small model by stock Keras and by the fused kernels, step for step."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

Build = Callable[[], Any]
STEPS = 5


class Trained:
    """A model after a few steps, with what was substituted and which operations its step consists of."""

    def __init__(self, build: Build, batches: Sequence[Any], *, fused: bool) -> None:
        import keras
        import tensorflow as tf

        from steptime.engine.kernels import substitute

        keras.utils.set_random_seed(7)
        self.model = build()
        self.model.optimizer.build(self.model.trainable_variables)
        step = tf.function(self.model.train_step, autograph=False)
        self.substituted: tuple[str, ...] = ()
        with (
            substitute(self.model, batch_normalization=True)
            if fused
            else contextlib.nullcontext(()) as self.substituted
        ):
            for batch in batches:
                self.logs = step(batch)
        graphs = step.get_concrete_function(batches[0]).graph.as_graph_def()
        nodes = [node for function in graphs.library.function for node in function.node_def] + list(
            graphs.node
        )
        self.operations = [node.op for node in nodes]

    def state(self) -> dict[str, np.ndarray]:
        variables = [*self.model.variables, *self.model.optimizer.variables]
        return {f"{i} {v.path}": np.asarray(v.value, np.float64) for i, v in enumerate(variables)}


@pytest.fixture
def train_both() -> Callable[..., tuple[Trained, Trained]]:
    def train(build: Build, batches: Sequence[Any]) -> tuple[Trained, Trained]:
        return Trained(build, batches, fused=False), Trained(build, batches, fused=True)

    return train


@pytest.fixture
def assert_equal_training(train_both: Callable[..., Any]) -> Callable[..., Trained]:
    def check(build: Build, batches: Sequence[Any], *, atol: float = 5e-7, rtol: float = 3e-5) -> Trained:
        stock, fused = train_both(build, batches)
        expected, received = stock.state(), fused.state()
        for name, other in zip(expected, received, strict=True):
            np.testing.assert_allclose(received[other], expected[name], atol=atol, rtol=rtol, err_msg=name)
        for metric, value in stock.logs.items():
            np.testing.assert_allclose(fused.logs[metric], value, rtol=1e-5, err_msg=metric)
        return fused

    return check
