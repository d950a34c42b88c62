"""The oracle: one training done twice, by stock Keras and by steptime, and all that can be seen of it compared.

A test hands over a way to build a model and a procedure ``train(model, fit)``, which is run both ways.
"""

from __future__ import annotations

import dataclasses
import re
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far a number may be from stock Keras' one: ``|a - b| <= atol + rtol * |b|``."""

    rtol: float
    atol: float


LOOPS = ("keras", "graph", "xla")

# The only place where the oracle's tolerances stand.
TOLERANCES: Mapping[str, Tolerance] = {
    # Stock Keras in another wrapping: the same kernels on the same batches, so the same bits.
    "keras": Tolerance(rtol=0.0, atol=0.0),
    # The same kernels in another graph, where grappler may fuse differently; the fused Adam and batch
    # normalisation round differently: a few units in float32's last place (6e-8) after some dozens of steps.
    "graph": Tolerance(rtol=2e-6, atol=1e-6),
    "graph+kernels": Tolerance(rtol=2e-6, atol=1e-6),
    # XLA reorders sums and has its own exp and rsqrt: parts in 1e-6 a step, which Adam's division makes grow.
    "xla": Tolerance(rtol=1e-4, atol=1e-4),
    # "auto" may train some steps in each of the above.
    "auto": Tolerance(rtol=1e-4, atol=1e-4),
    # float16 carries 11 bits; a sum done in another order differs in the last of them (1e-3 of the value).
    "float16": Tolerance(rtol=5e-3, atol=5e-3),
}


@dataclasses.dataclass(slots=True, kw_only=True)
class Outcome:
    """All that can be seen of one training."""

    seen: list[tuple[Any, ...]]
    weights: list[tuple[str, Any]]
    optimizer: list[tuple[str, Any]]
    returned: Any
    warned: list[str]


def assert_same(ours: Any, stock: Any, tolerance: Tolerance, where: str = "") -> None:
    """Compare nested values: structure, order, container types and text exactly, numbers by the tolerance."""
    if isinstance(stock, Mapping):
        assert list(ours) == list(stock), f"{where}: keys {list(ours)} instead of {list(stock)}"
        for key in stock:
            assert_same(ours[key], stock[key], tolerance, f"{where}[{key!r}]")
    elif isinstance(stock, list | tuple):
        assert type(ours) is type(stock), (
            f"{where}: a {type(ours).__name__} instead of a {type(stock).__name__}"
        )
        assert len(ours) == len(stock), (
            f"{where}: {len(ours)} items instead of {len(stock)}: {ours!r} / {stock!r}"
        )
        for index, (a, b) in enumerate(zip(ours, stock, strict=True)):
            assert_same(a, b, tolerance, f"{where}[{index}]")
    elif isinstance(stock, np.ndarray):
        assert isinstance(ours, np.ndarray), f"{where}: a {type(ours).__name__} instead of an array"
        assert (ours.shape, ours.dtype) == (stock.shape, stock.dtype), where
        assert_numbers_close(ours, stock, tolerance, where)
    elif isinstance(stock, float):
        assert type(ours) is float, (
            f"{where}: {ours!r} ({type(ours).__name__}) instead of the float {stock!r}"
        )
        assert_numbers_close(np.float64(ours), np.float64(stock), tolerance, where)
    else:
        assert type(ours) is type(stock), f"{where}: {ours!r} instead of {stock!r}"
        assert ours == stock, f"{where}: {ours!r} instead of {stock!r}"


def assert_numbers_close(ours: Any, stock: Any, tolerance: Tolerance, where: str) -> None:
    """Compare two arrays; whole numbers and text must be equal, NaN equals NaN."""
    if np.asarray(stock).dtype.kind not in "fcV":
        np.testing.assert_array_equal(ours, stock, err_msg=where)
        return
    ours, stock = np.asarray(ours, "float64"), np.asarray(stock, "float64")
    np.testing.assert_allclose(ours, stock, rtol=tolerance.rtol, atol=tolerance.atol, err_msg=where)


class Fit:
    """``fit`` of one model, either stock Keras' or steptime's; remembers every History it returned."""

    def __init__(self, model: Any, call: Callable[..., Any]) -> None:
        self._model = model
        self._call = call
        self.histories: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call ``fit``: silent and in the data's order unless the test says otherwise."""
        history = self._call(self._model, *args, **{"verbose": 0, "shuffle": False, **kwargs})
        self.histories.append(history)
        return history


def seen_of(history: Any) -> tuple[Any, ...]:
    """What a person can read from a History."""
    import keras

    assert isinstance(history, keras.callbacks.History)
    return (dict(history.history), list(history.epoch), dict(history.params))


def variables_of(owner: Any) -> list[tuple[str, Any]]:
    """Every variable's name and value, in order (a model's with its metrics', or an optimizer's)."""
    # Keras numbers what has no name of its own by how often it was made in the process.
    return [(re.sub(r"_\d+(?=_|$)", "", v.name), v.numpy()) for v in owner.variables]


class Oracle:
    """Trains equal models both ways and compares; a stock training is done once and used for every loop."""

    def __init__(self) -> None:
        self._stock: dict[str, Outcome] = {}
        self._models: dict[tuple[str, str], tuple[Any, list[Any]]] = {}

    def check(
        self,
        key: str,
        loop: str,
        build: Callable[[], Any],
        train: Callable[[Any, Fit], Any],
        *,
        shared: bool = False,
        tolerance: str | None = None,
        used: tuple[str, ...] | None = None,
        uncounted: bool = False,
    ) -> list[Any]:
        import keras

        import steptime

        if key not in self._stock:
            model = self._model("stock", build, shared=shared)
            self._stock[key] = run(model, Fit(model, keras.Model.fit), train)
        model = self._model(loop, build, shared=shared)
        name, _, kernels = loop.partition("+")
        how = {"loop": name, **({"exact_kernels": True} if kernels else {})}
        fit = Fit(model, lambda m, *a, **k: steptime.fit(m, *a, **k, **how))
        ours = run(model, fit, train)
        assert_loop_was_used(fit.histories, used or (LOOPS if loop == "auto" else (loop,)))
        stock, bound = dataclasses.replace(self._stock[key]), TOLERANCES[tolerance or loop]
        if uncounted:
            # Stock Keras' step that finds no data left has counted itself before it fails (3.15.1).
            ours.optimizer, stock.optimizer = ours.optimizer[1:], stock.optimizer[1:]
        for part in dataclasses.fields(Outcome):
            assert_same(getattr(ours, part.name), getattr(stock, part.name), bound, part.name)
        return fit.histories

    def _model(self, way: str, build: Callable[[], Any], *, shared: bool) -> Any:
        if not shared:
            return fresh(build)
        place = (build.__qualname__, way)
        if place not in self._models:
            model = fresh(build)
            model.optimizer.build(model.trainable_variables)
            self._models[place] = (model, [v.numpy() for v in everything(model)])
        model, start = self._models[place]
        for variable, value in zip(everything(model), start, strict=True):
            variable.assign(value)
        return model


def fresh(build: Callable[[], Any]) -> Any:
    """A new model that starts like every other one from the same function."""
    import keras

    keras.utils.set_random_seed(11)
    return build()


def everything(model: Any) -> list[Any]:
    """The state that a fit changes."""
    return [*model.weights, *model.optimizer.variables]


def run(model: Any, fit: Fit, train: Callable[[Any, Fit], Any]) -> Outcome:
    """Do one training and note all that it left."""
    import keras

    keras.utils.set_random_seed(12)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        returned = train(model, fit)
    if isinstance(returned, keras.callbacks.History):
        returned = None  # compared with the other histories
    return Outcome(
        seen=[seen_of(history) for history in fit.histories],
        weights=variables_of(model),
        optimizer=variables_of(model.optimizer) if model.optimizer is not None else [],
        returned=returned,
        warned=list(dict.fromkeys(str(warning.message) for warning in caught)),
    )


def assert_loop_was_used(histories: list[Any], loops: tuple[str, ...]) -> None:
    """Without this the comparison could be one of stock Keras with itself."""
    for history in histories:
        report = history.steptime
        ran = {report.loop, *(segment.loop for segment in report.segments)} & set(loops)
        assert ran or not history.epoch, f"trained by {report.loop!r}, asked for one of {loops}: {report}"


_ORACLE = Oracle()


@pytest.fixture
def oracle(request: pytest.FixtureRequest) -> Callable[..., list[Any]]:
    """``oracle(loop, build, train)`` trains both ways and compares; ``shared=True`` reuses compiled models."""
    parameters = dict(getattr(getattr(request.node, "callspec", None), "params", {}))
    parameters.pop("loop", None)
    key = f"{request.node.path}::{request.node.originalname}::{sorted(map(repr, parameters.items()))}"

    def check(loop: str, build: Callable[[], Any], train: Callable[[Any, Fit], Any], **how: Any) -> list[Any]:
        return _ORACLE.check(key, loop, build, train, **how)

    return check


@pytest.fixture
def same() -> Callable[..., None]:
    """``same(ours, stock, "graph")`` compares two nested values within a loop's tolerance."""
    return lambda ours, stock, loop="graph": assert_same(ours, stock, TOLERANCES[loop], "value")


@pytest.fixture(scope="session")
def samples() -> types.SimpleNamespace:
    """A three-class problem with six features; 22 samples: two batches of 8 and a partial one of 6."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(36, 6)).astype("float32")
    y = (x @ rng.normal(size=(6, 3)) + rng.normal(size=(36, 3))).argmax(1).astype("int32")
    weight = rng.uniform(0.2, 2.0, size=36).astype("float32")
    return types.SimpleNamespace(
        x=x[:22], y=y[:22], weight=weight[:22], val_x=x[22:], val_y=y[22:], val_weight=weight[22:]
    )


@pytest.fixture(scope="session")
def classifier() -> Callable[[], Any]:
    """Builds a compiled two-layer classifier (momentum SGD, one metric)."""
    import keras

    def build_classifier() -> Any:
        inputs = keras.Input((6,), name="features")
        hidden = keras.layers.Dense(8, activation="tanh", name="hidden")(inputs)
        outputs = keras.layers.Dense(3, activation="softmax", name="classes")(hidden)
        model = keras.Model(inputs, outputs, name="classifier")
        optimizer = keras.optimizers.SGD(0.1, momentum=0.5)
        model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
        return model

    return build_classifier


@pytest.fixture(scope="session")
def recorder() -> Callable[..., Any]:
    """``recorder()`` notes every hook's calls; ``recorder("on_epoch_end", ...)`` overrides only those hooks."""
    import keras

    every = tuple(name for name in vars(keras.callbacks.Callback) if name.startswith("on_"))

    def make(*hooks: str) -> Any:
        calls: list[Any] = []

        def noting(hook: str) -> Callable[..., None]:
            def called(self: Any, *args: Any, **kwargs: Any) -> None:
                logs = kwargs.get("logs", args[-1] if args and isinstance(args[-1], Mapping) else None)
                place = [a for a in args if isinstance(a, int)]
                # The number of steps done proves that a callback finds the weights of its own moment.
                steps = int(self.model.optimizer.iterations)
                calls.append((hook, place, None if logs is None else plain(logs), steps))

            return called

        # on_train_batch_* calls on_batch_* by default, so both are never overridden together.
        names = hooks or tuple(name for name in every if name not in ("on_batch_begin", "on_batch_end"))
        callback = type("Recorder", (keras.callbacks.Callback,), {name: noting(name) for name in names})()
        callback.calls = calls
        return callback

    return make


def plain(logs: Mapping[str, Any]) -> dict[str, Any]:
    """Logs as callbacks get them; predictions are noted as arrays."""
    return {k: v if isinstance(v, int | float) else np.asarray(v) for k, v in logs.items()}
