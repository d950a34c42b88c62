"""Keras' own train function, called once a step."""

from typing import Any

import tensorflow as tf

from steptime.engine.feeds.feed import Claim
from steptime.engine.loops.loop import Outcome


class KerasLoop:
    """Steps executed as stock `fit` does it: one call of `train_function` each, fed by tf.data.

    Args:
        function: `model.train_function` or `test_function`.
        feed: Gives the iterator.
        stop_on_infinite_loss: Whether a callback stops the training at such a loss.
    """

    name = "keras"

    def __init__(self, function: Any, feed: Any, *, stop_on_infinite_loss: bool = False) -> None:
        self._function = function
        self._feed = feed
        self._stop_on_infinite_loss = stop_on_infinite_loss

    def run(self, claim: Claim) -> Outcome:
        """Executes the claimed steps."""
        iterator = self._feed.iterator(claim.position)
        logs: Any = None
        done = 0
        try:
            while done < claim.steps:
                logs = self._function(iterator)
                done += 1
                if self._stop_on_infinite_loss and not _is_finite(logs):
                    break
        except (StopIteration, tf.errors.OutOfRangeError):
            pass  # The feed is told by the count.
        finally:
            self._feed.read(done)
        return Outcome(steps=done, logs=logs)


def _is_finite(logs: Any) -> bool:
    loss = logs.get("loss") if isinstance(logs, dict) else None
    return loss is None or bool(tf.math.is_finite(loss))
