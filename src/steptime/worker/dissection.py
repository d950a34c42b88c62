"""Takes one job apart: the short timings, its parts, a trace of a few steps."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import keras

from steptime.engine.fit import fit
from steptime.engine.report import FitReport
from steptime.engine.step import StepFunction
from steptime.engine.timing.assemble import Arms, Execution, make_arms
from steptime.engine.timing.hooks import HookTimes, time_hooks
from steptime.engine.timing.session import Pace, Session, Slices
from steptime.engine.timing.source import Source
from steptime.engine.timing.traces import TraceCounter
from steptime.record.profile import CallbackCost, Loop, Timing, Timings, Tracing
from steptime.worker.own_callbacks import saves_model

_MOST_FITS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is taken apart: a compiled model with its data and the arguments of its fit.

    Attributes:
        model: The compiled model.
        source: Its data.
        callbacks: The person's own callbacks.
        epochs: As given to fit.
        steps_per_epoch: As given to fit.
        loop: As `steptime.fit` takes it.
        exact_kernels: As `steptime.fit` takes it.
        seed: As `steptime.fit` takes it.
    """

    model: keras.Model
    source: Source
    callbacks: list[keras.callbacks.Callback] = field(default_factory=list)
    epochs: int = 1
    steps_per_epoch: int | None = None
    loop: str = "auto"
    exact_kernels: bool | str = "auto"
    seed: int | None = None

    def fit_arguments(self) -> dict[str, Any]:
        """The arguments of `steptime.fit`, without callbacks and observer."""
        return self.source.fit_arguments() | {
            "epochs": self.epochs,
            "steps_per_epoch": self.steps_per_epoch,
            "verbose": 0,
            "loop": self.loop,
            "exact_kernels": self.exact_kernels,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the timings of a session gave.

    Attributes:
        timings: The short timings.
        loop: How the steps were executed.
        callbacks: What each of the person's callbacks cost.
        tracing: Traces of the step while it should have been steady.
        arms: The ways of executing steps, to go on with.
        step_s: About what a step takes, as it is.
    """

    timings: Timings
    loop: Loop
    callbacks: tuple[CallbackCost, ...]
    tracing: Tracing
    arms: Arms
    step_s: float


def time_steps(subject: Subject, is_stopped: Callable[[], bool], pace: Pace) -> Measured | None:
    """Time a job's steps and the other ways of executing them in turns.

    Args:
        subject: The job. Its model is trained on the way.
        is_stopped: Whether somebody asked to stop.
        pace: How long it may take.

    Returns:
        None when no step was timed: somebody stopped it, or the data hold too few steps.
    """
    model = subject.model
    traces = TraceCounter()
    hooks = time_hooks(subject.callbacks)
    execution: list[Execution] = []

    def make(loop: str) -> Arms:
        is_stock = not isinstance(model.train_function, StepFunction)
        is_resident = subject.source.is_arrays and loop != "keras"
        execution.append(Execution(loop=loop, is_resident=is_resident, is_stock=is_stock))
        return make_arms(model, subject.source, execution[0])

    session = Session(model, make, traces, pace, is_stopped)
    report: FitReport | None = None
    with traces.listening(model):
        for _ in range(_MOST_FITS):
            if session.finished:
                break
            history = fit(
                model, **subject.fit_arguments(), callbacks=list(subject.callbacks), observer=session
            )
            # A person's own fit need not return a History.
            report = getattr(history, "steptime", report)
    if report is None or session.arms is None or not session.as_is.step_s:
        return None
    return _measured(session, _loop(model, execution[0], report), hooks)


def _measured(
    session: Session,
    loop: Loop,
    hooks: list[HookTimes],
) -> Measured:
    arms = session.arms
    assert arms is not None
    size = arms.batch_size or None
    timings = Timings(
        as_is=_timing(session.as_is, size, None),
        **{
            name: _timing(
                session.others.get(name, Slices()),
                size if size is None or name != "doubled" else 2 * size,
                arms.reasons.get(name),
            )
            for name in ("repeated", "input", "resident", "doubled")
        },
    )
    return Measured(
        timings=timings,
        loop=loop,
        callbacks=tuple(_cost(item, session.steps) for item in hooks),
        tracing=Tracing(
            count=session.traced_again,
            steps=session.as_is.steps,
            time_s=session.traced_s / max(session.as_is.steps, 1),
            shapes=tuple(session.traced_shapes),
        ),
        arms=arms,
        step_s=session.as_is.step_s[-1],
    )


def _timing(slices: Slices, batch_size: int | None, reason: str | None) -> Timing:
    if not slices.step_s and reason is None:
        reason = "it was stopped before"
    return Timing(step_s=tuple(slices.step_s), steps=slices.steps, batch_size=batch_size, reason=reason)


def _loop(model: keras.Model, execution: Execution, report: FitReport) -> Loop:
    not_xla: str | None = None
    if execution.loop != "xla" and not model.jit_compile:
        considered = next((item.reason for item in report.candidates if item.loop == "xla"), None)
        not_xla = considered or "Keras' jit_compile resolved to False"
    return Loop(
        name=execution.loop,
        reason=report.reason,
        is_resident=execution.is_resident,
        is_stock=execution.is_stock,
        run_eagerly=bool(model.run_eagerly),
        jit_compile=bool(model.jit_compile),
        steps_per_execution=int(model.steps_per_execution),
        not_xla=not_xla,
    )


def _cost(item: HookTimes, steps: int) -> CallbackCost:
    return CallbackCost(
        name=type(item.callback).__name__,
        by="person",
        step_s=item.batch_ns / 1e9 / max(steps, 1),
        epoch_s=item.epoch_ns / 1e9 / item.epochs if item.epochs else None,
        saves=saves_model(item.callback),
    )
