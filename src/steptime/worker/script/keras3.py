"""Puts the engine, watched by a session, into the place of Keras 3's ``fit``, ``evaluate`` and ``predict``."""

import dataclasses
import functools
import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any

from steptime.worker.script import frames

if TYPE_CHECKING:
    from steptime.engine.observer import Observer
    from steptime.worker.script.session import Session


def replace_methods(keras: ModuleType, session: "Session") -> None:
    """Replace the methods; with the loop ``keras`` only ``fit`` is watched, and nothing accelerated.

    The engine is imported by the first call: when this runs, Keras has just been imported, perhaps by the engine.

    Args:
        keras: The package, on TensorFlow.
        session: Measures the calls.
    """
    model_class = keras.Model
    stock_fit = model_class.fit

    @functools.wraps(stock_fit)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return _fit(session, stock_fit, self, args, kwargs)
        except BaseException as error:
            frames.clean(error)  # a script may print it itself; `raise` alone does not add this frame again
            raise

    model_class.fit = fit
    if session.plan.settings.loop == "keras":
        return
    for name in ("evaluate", "predict"):
        setattr(model_class, name, _engines(name, getattr(model_class, name)))


def _engines(name: str, stock: Any) -> Any:
    @functools.wraps(stock)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        from steptime.engine import install

        if not _keras_takes(stock, self, args, kwargs):
            return stock(self, *args, **kwargs)  # Keras says in its own words what is wrong
        try:
            return getattr(install, name)(self, *args, **kwargs)
        except BaseException as error:
            frames.clean(error)
            raise

    return call


def _keras_takes(stock: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether Keras declares all arguments of a call: the engine knows more of them than a script may use."""
    try:
        bound = inspect.signature(stock).bind(model, *args, **kwargs)
    except TypeError:
        return False
    return not bound.arguments.get("kwargs")  # what `evaluate` takes by any name, and looks at itself


def _fit(session: "Session", stock: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from steptime.engine import private_keras
    from steptime.engine.fit import run_fit
    from steptime.engine.request import FitRequest

    if not _keras_takes(stock, model, args, kwargs):
        return stock(model, *args, **kwargs)  # Keras says in its own words what is wrong
    request = FitRequest(*args, **kwargs)
    settings = session.plan.settings
    exact_kernels: dict[str, bool | str] = {"auto": "auto", "on": True, "off": False}

    def train(observer: "Observer | None") -> Any:
        asked = dataclasses.replace(
            request,
            loop=settings.loop,
            exact_kernels=exact_kernels[settings.exact_kernels],
            observer=observer,
        )
        return private_keras.filter_traceback(run_fit)(model, asked, check_override=False)

    return session.measure(model, request, train, inspect=True)
