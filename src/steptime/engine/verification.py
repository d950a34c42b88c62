"""A loop's first step, compared with Keras' own step from the same weights on the same batch."""

import math
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from steptime.engine import private_keras, state
from steptime.engine.feeds.feed import Claim
from steptime.engine.loops.keras import KerasLoop
from steptime.engine.loops.loop import Loop, Outcome
from steptime.engine.step import TracedStep

# Largest accepted difference, as a share of what Keras' step changed. The graph loop runs the same operations;
# fused kernels and XLA round differently; half precision and TF32 round more. A wrong loop is off by about 1.
_TOLERANCE = {"graph": 1e-3, "graph+kernels": 1e-2, "xla": 1e-2}
_COARSE_FACTOR = 10.0
# A deviation beyond the tolerance is rounding if Keras' own step deviates this much less at least.
_NOISE_FACTOR = 10.0
# Draws that tell how far random steps lie apart.
_DRAWS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of the first step of a loop. In every case exactly one step was trained.

    Attributes:
        outcome: The step.
        accepted: Whether the loop may be used.
        text: How it compared, or why it may not be used.
    """

    outcome: Outcome
    accepted: bool
    text: str


class Verifier:
    """Compares loops with Keras' own.

    Args:
        keras_loop: Keras' own loop.
        feed: Gives the batches.
        step: The traced step.
        coarse: Whether products carry 16 bits or fewer, see `computes_coarsely`.
        copy_limit_bytes: Most memory that copies of the model's state may take, in bytes.
    """

    def __init__(
        self,
        keras_loop: KerasLoop,
        feed: Any,
        step: TracedStep,
        *,
        coarse: bool,
        copy_limit_bytes: int,
    ) -> None:
        self._keras_loop = keras_loop
        self._feed = feed
        self._step = step
        self._coarse = coarse
        self._copy_limit_bytes = copy_limit_bytes

    def why_not_compared(self) -> str | None:
        """Why the step cannot be run twice; None when it can."""
        if self._step.side_effects:
            return f"not compared: the step contains {self._step.side_effects[0]}, which must not run twice"
        needed = 3 * state.size_bytes(self._step.variables)
        if needed > self._copy_limit_bytes:
            return f"not compared: copies of weights and optimizer need {needed} bytes"
        return None

    def first_step(self, loop: Loop, claim: Claim) -> Verdict:
        """Trains one step with `loop` if it agrees with Keras' own step, else with Keras' own.

        Raises:
            StopIteration: There is no batch.
        """
        reason = self.why_not_compared()
        if reason is not None:
            # The graph loop executes the very function that Keras' loop executes; no other loop is trusted.
            trusted = loop.name == "graph"
            outcome = (loop if trusted else self._keras_loop).run(claim)
            return Verdict(outcome=outcome, accepted=trusted, text=reason)
        variables = self._step.variables
        try:
            batch = self._feed.batch(claim.position)
        except StopIteration:
            self._keras_loop.run(claim)  # As Keras does: what does not depend on the batch happens once more.
            raise
        before = state.read(variables)
        draws = self._reference_draws(loop, claim, batch, before)
        reference, expected = draws[0]
        state.write(variables, before)
        try:
            self._feed.put_back(batch)
            outcome = loop.run(claim)
            got = state.read(variables)
        except Exception as error:  # noqa: BLE001  # whatever stops a candidate, Keras' own step goes on
            self._feed.read(1)
            state.write(variables, expected)
            return Verdict(outcome=reference, accepted=False, text=f"failed: {_first_line(error)}")
        accepted, text = self._compare(loop.name, before, draws, got, outcome, batch)
        state.write(variables, got if accepted else expected)
        outcome = outcome if accepted else reference
        return Verdict(outcome=outcome, accepted=accepted, text=text)

    def _reference_draws(
        self, loop: Loop, claim: Claim, batch: Any, before: state.Values
    ) -> list[tuple[Outcome, state.Values]]:
        """Keras' own step, once, or several times with other random numbers where those cannot be equal."""
        variables = self._step.variables
        draws: list[tuple[Outcome, state.Values]] = []
        for _ in range(_DRAWS if self._is_statistical(loop.name) else 1):
            for variable, value in zip(variables, before, strict=True):
                if draws and "seed_generator_state" not in variable.name:
                    variable.assign(value)
            self._feed.put_back(batch)
            outcome = self._keras_loop.run(claim)
            draws.append((outcome, state.read(variables)))
        return draws

    def _is_statistical(self, loop: str) -> bool:
        """XLA draws other random numbers from the same seeds; hidden random state cannot be put back."""
        return self._step.stateful_random or (loop == "xla" and self._step.is_random)

    def _compare(
        self,
        loop: str,
        before: state.Values,
        draws: list[tuple[Outcome, state.Values]],
        got: state.Values,
        outcome: Outcome,
        batch: Any,
    ) -> tuple[bool, str]:
        names = [v.name for v in self._step.variables]
        if len(draws) > 1:
            return _agrees_statistically(names, before, [values for _, values in draws], got)
        reference, expected = draws[0]
        tolerance = _TOLERANCE[loop] * (_COARSE_FACTOR if self._coarse else 1.0)
        errors = state.update_errors(before, expected, got)
        names.append("the logs")
        errors.append(_log_error(reference.logs, outcome.logs))
        worst = max(errors)
        if worst == 0.0:
            return True, "bit-equal to Keras' own step"
        name = names[errors.index(worst)]
        text = (
            f"{name} differs from Keras' own step by {worst:.1e} of its change (accepted up to {tolerance:g})"
        )
        if worst <= tolerance:
            return True, f"agrees: {text}"
        if math.isfinite(worst) and state.overall_error(before, expected, got) <= tolerance:
            noise = self._noise(before, expected, batch)
            if all(e <= max(tolerance, _NOISE_FACTOR * n) for e, n in zip(errors, noise, strict=True)):
                return (
                    True,
                    f"agrees: {text}, which is rounding: Keras' own step with its samples reversed differs as much",
                )
        return False, f"dropped: {text}"

    def _noise(self, before: state.Values, expected: state.Values, batch: Any) -> list[float]:
        """How far rounding alone moves each update: Keras' step on the same samples in reverse order.

        A bias before batch normalisation, for instance, has gradient zero, and Adam makes a full step of
        whatever rounding leaves of it.
        """
        variables = self._step.variables
        state.write(variables, before)
        self._step(tf.nest.map_structure(lambda t: None if t is None else tf.reverse(t, [0]), batch))
        return [*state.update_errors(before, expected, state.read(variables)), 0.0]


def computes_coarsely(model: keras.Model, device: str) -> bool:
    """Whether products are rounded to 16 bits or fewer: half precision in a layer, or TF32 on a GPU."""
    layers = private_keras.flatten_layers(model)
    half = any(getattr(layer, "compute_dtype", "") in ("float16", "bfloat16") for layer in layers)
    return half or (
        not device.startswith("/CPU") and bool(tf.config.experimental.tensor_float_32_execution_enabled())
    )


def _log_error(expected: Any, got: Any) -> float:
    left, right = ([np.asarray(v) for v in tf.nest.flatten(logs)] for logs in (expected, got))
    return max(state.update_errors([np.zeros_like(v) for v in left], left, right), default=0.0)


def _agrees_statistically(
    names: list[str], before: state.Values, draws: list[state.Values], got: state.Values
) -> tuple[bool, str]:
    """Whether each update is of the size that Keras' own steps have with other random numbers.

    Accepted are sizes (root mean square) between half the smallest and twice the largest of the draws;
    integers, such as step counters and seeds, must be equal to those after the first draw.
    """
    for index, name in enumerate(names):
        value = got[index]
        if not state.is_real(value):
            if not np.array_equal(value, draws[0][index]):
                return False, f"dropped: {name} is {value} and not {draws[0][index]} as after Keras' own step"
            continue
        sizes = [_update_size(before[index], draw[index]) for draw in draws]
        size = _update_size(before[index], value)
        if math.isnan(size) or not 0.5 * min(sizes) - 1e-12 <= size <= 2.0 * max(sizes) + 1e-12:
            return False, (
                f"dropped: the update of {name} has size {size:.2e}, Keras' own with {len(draws)} random "
                f"draws {min(sizes):.2e} to {max(sizes):.2e}"
            )
    return True, f"agrees with {len(draws)} random draws of Keras' own step in the size of every update"


def _update_size(before: Any, after: Any) -> float:
    change = np.asarray(after, np.float64) - np.asarray(before, np.float64)
    return float(np.sqrt(np.mean(np.square(change)))) if change.size else 0.0


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
