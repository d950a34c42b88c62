"""Watches the ``fit`` of Keras 2 (``tf_keras``), which no engine here executes."""

import functools
import inspect
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from steptime.engine.step_watch import StepWatch

if TYPE_CHECKING:
    from steptime.engine.observer import Observer
    from steptime.worker.script.session import Session


def replace_fit(keras: ModuleType, session: "Session") -> None:
    """Let each ``fit`` be measured by a callback.

    Args:
        keras: The package ``tf_keras``.
        session: Measures the calls.
    """
    stock = keras.Model.fit
    # Keras 2 times callbacks, and warns of slow ones, as soon as one is not named as its own are.
    watch_class = type("LambdaCallback", (StepWatch, keras.callbacks.Callback), {})
    why = f"keras: Keras {keras.__version__} is measured, not accelerated"

    @functools.wraps(stock)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = inspect.signature(stock).bind(self, *args, **kwargs)
        except TypeError:
            return stock(self, *args, **kwargs)  # Keras says in its own words what is wrong
        bound.apply_defaults()
        arguments = bound.arguments

        def train(observer: "Observer | None") -> Any:
            if observer is None:
                return stock(self, *args, **kwargs)
            watch = watch_class(observer)
            observer.on_decision(why)
            history = stock(**{**arguments, "callbacks": _with(arguments["callbacks"], watch)})
            if history is not None:
                history.steptime = watch.report(why)
            return history

        return session.measure(self, SimpleNamespace(**arguments), train, inspect=False)

    keras.Model.fit = fit


def _with(callbacks: Any, watch: Any) -> Any:
    if hasattr(callbacks, "append") and not isinstance(callbacks, list):  # a CallbackList
        callbacks.append(watch)
        return callbacks
    given = [] if callbacks is None else callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    return [*given, watch]
