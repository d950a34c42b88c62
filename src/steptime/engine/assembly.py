"""Puts together what one `fit` runs on: the traced step, the data's place, the loops and the choice."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import memory, priors, private_keras
from steptime.engine.cadence import Cadence
from steptime.engine.checkpoints.state import LoopState
from steptime.engine.choice import Choice
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.feed import Claim, element_spec
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.loops.graph import ResidentGraph, StreamGraph
from steptime.engine.loops.keras import KerasLoop
from steptime.engine.loops.loop import Loop
from steptime.engine.loops.xla import XlaLoop
from steptime.engine.prior import Prior
from steptime.engine.report import Candidate, FitReport
from steptime.engine.request import FitRequest
from steptime.engine.runner import Runner
from steptime.engine.step import StepFunction, TracedStep
from steptime.engine.verification import Verifier, computes_coarsely

LOOPS = ("keras", "graph", "graph+kernels", "xla")


class Engine:
    """The machinery of one `fit`. Made at the first step, after callbacks had their say about the model.

    Args:
        model: The model.
        function: Its train function.
        feed: The data.
        request: What the person asked for.
        cadence: What callbacks need.
        total_steps: Steps planned; None when unknown.
        former: Which loops ran before an interruption; None to try them.
    """

    def __init__(
        self,
        model: keras.Model,
        function: StepFunction,
        feed: ArrayFeed | StreamFeed,
        request: FitRequest,
        cadence: Cadence,
        total_steps: int | None,
        former: LoopState | None = None,
    ) -> None:
        self._model = model
        self._function = function
        self._feed = feed
        self._cadence = cadence
        self._device = memory.device_name()
        self._data: Any = None
        self.keras_loop = KerasLoop(function, feed, stop_on_infinite_loss=cadence.stop_on_infinite_loss)
        self._memory_key = repr(feed.element_spec)
        loops: dict[str, Callable[[], Loop]] = {"keras": lambda: self.keras_loop}
        verifier = None
        self._traced: TracedStep | None = None
        try:
            self._step = function.traced(feed.element_spec)
        except Exception as error:  # noqa: BLE001  # Keras' own function goes on, or raises it where it should
            reason = f"the step could not be traced for these data: {type(error).__name__}"
            candidates = [Prior(loop="graph", impossible=reason), Prior(loop="keras")]
            self.choice = Choice(candidates, total_steps=total_steps, asked=True)
        else:
            self._traced = self._step
            self._not_resident = self._why_not_resident()
            self.choice = self._choose(request, total_steps)
            loops |= self._loops()
            verifier = self._verifier()
        if former is not None:
            self.choice.go_on(
                settled=former.settled,
                reason=former.reason,
                dropped=former.dropped,
                measured=former.measured,
            )
        self.runner = Runner(
            self.choice,
            loops,
            verifier,
            whole_batch_steps=feed.full_steps if isinstance(feed, ArrayFeed) else None,
            observer=request.observer,
            compared={loop: former.verifications.get(loop, "") for loop in former.ready} if former else None,
        )

    @property
    def touched(self) -> tuple[tf.Variable, ...]:
        """Every variable that a step reads or writes, as far as it could be traced."""
        return () if self._traced is None else self._traced.variables

    def loop_state(self) -> LoopState:
        """Which loops ran and why, so that a resumed fit goes on with them."""
        measured = self.choice.measured()
        return LoopState(
            settled=self.choice.settled,
            reason=self.choice.reason,
            step_s={loop: m.step_s for loop, m in measured.items()},
            compile_s={loop: m.compile_s for loop, m in measured.items()},
            dropped=self.choice.dropped,
            ready=self.runner.known,
            verifications=self.runner.verifications,
        )

    def _verifier(self) -> Verifier:
        data_bytes = self._feed.bytes if isinstance(self._feed, ArrayFeed) else 0
        return Verifier(
            self.keras_loop,
            self._feed,
            self._step,
            coarse=computes_coarsely(self._model, self._device),
            copy_limit_bytes=memory.copy_limit_bytes(data_bytes, self._device),
        )

    def _why_not_resident(self) -> str | None:
        if not isinstance(self._feed, ArrayFeed):
            return "the data are a stream and do not lie on the device"
        if any(s is not None and s.dtype == tf.string for s in tf.nest.flatten(self._feed.element_spec)):
            return "the data contain strings, which live in host memory"
        return memory.why_not_resident(self._feed.bytes, self._device)

    def _choose(self, request: FitRequest, total_steps: int | None) -> Choice:
        candidates = priors.candidates(
            self._model, self._step, device=self._device, why_not_resident=self._not_resident
        )
        if request.exact_kernels is False:
            candidates = [
                _without(p, "exact_kernels=False") if p.loop == "graph+kernels" else p for p in candidates
            ]
        remembered = self._function.memory.setdefault(self._memory_key, {})
        if request.loop == "auto":
            unwise = priors.unwise_xla(self._model, self._device)
            candidates = [
                _without(p, unwise) if p.loop == "xla" and p.impossible is None and unwise else p
                for p in candidates
            ]
            return Choice(candidates, total_steps=total_steps, remembered=remembered)
        asked = _asked(request, candidates)
        return Choice(asked, total_steps=total_steps, asked=True)

    def _loops(self) -> dict[str, Callable[[], Loop]]:
        stop = self._cadence.stop_on_infinite_loss
        jit_step = bool(self._model.jit_compile)

        def graph(step: TracedStep) -> Loop:
            if isinstance(self._feed, ArrayFeed) and self._not_resident is None:
                return ResidentGraph(
                    step, self._feed, self._resident(), jit_step=jit_step, stop_on_infinite_loss=stop
                )
            return StreamGraph(step, self._feed, jit_step=jit_step, stop_on_infinite_loss=stop)

        def kernels() -> Loop:
            step = self._function.traced_with_kernels(self._feed.element_spec)
            if step is None:
                raise ValueError("nothing to substitute in this model")
            return graph(step)

        def xla() -> Loop:
            assert isinstance(self._feed, ArrayFeed)
            spec = self._step.spec
            if not private_keras.has_several_losses(self._model):
                # Keras' own trace leaves the batch open where the last one is shorter, and recurrent layers
                # need it closed under XLA. With several losses closing it would change how Keras weighs them.
                spec = element_spec(self._feed.host, self._feed.batch_size)
            return XlaLoop(
                self._function.traced_for_xla(spec), self._feed, self._resident(), stop_on_infinite_loss=stop
            )

        return {"graph": lambda: graph(self._step), "graph+kernels": kernels, "xla": xla}

    def _resident(self) -> Any:
        """The feed's tensors on the device; uint8 stays uint8."""
        assert isinstance(self._feed, ArrayFeed)
        if self._data is None:
            with tf.device(self._device):
                self._data = tf.nest.map_structure(
                    lambda t: None if t is None else tf.identity(t), self._feed.host
                )
        return self._data

    def run_into_the_end(self, loop: str) -> None:
        """Calls Keras' own function on data that have just ended, as Keras does where it cannot know the end.

        TensorFlow then advances what does not depend on the batch, such as `optimizer.iterations`. Keras'
        schedules and Adam see that, so the same must happen in every loop.
        """
        if loop != "keras":
            self.keras_loop.run(Claim(first=0, position=0, steps=1))

    def report(self, notes: tuple[str, ...], seed: int | None) -> FitReport:
        """What became of every candidate; also remembered for the model's next fit."""
        measured = self.choice.measured()
        self._function.memory[self._memory_key] = measured
        reasons = {**self.choice.skipped, **self.choice.dropped}
        is_resident = self._data is not None and isinstance(self._feed, ArrayFeed)
        return FitReport(
            loop=self.choice.settled or self.choice.current,
            reason=self.choice.reason
            or f"{self.choice.current}: the training ended before a choice was made",
            candidates=tuple(
                Candidate(
                    loop=loop,
                    step_s=self.choice.typical_step_s(loop),
                    compile_s=measured[loop].compile_s if loop in measured else None,
                    reason=reasons.get(loop),
                    verification=self.runner.verifications.get(loop),
                )
                for loop in LOOPS
                if loop in measured or loop in reasons
            ),
            resident="training data" if is_resident else "",
            resident_bytes=self._feed.bytes if is_resident and isinstance(self._feed, ArrayFeed) else 0,
            segments=tuple(self.runner.segments),
            notes=notes,
            seed=seed,
        )


def _without(prior: Prior, reason: str) -> Prior:
    return replace(prior, impossible=prior.impossible or reason)


def _asked(request: FitRequest, candidates: list[Prior]) -> list[Prior]:
    """The named loop first, Keras' own after it in case the named one cannot be run."""
    by_name = {p.loop: p for p in candidates}
    name = request.loop
    if name == "graph" and request.exact_kernels is True and by_name["graph+kernels"].impossible is None:
        name = "graph+kernels"
    order = [name, *(["keras"] if name != "keras" else [])]
    return [replace(by_name[loop], over=None) for loop in order]
