"""Time stamps of a training, taken by callbacks. Pure Keras, so that every backend can use it."""

# ruff: noqa: ARG002 -- the arguments of the hooks are Keras' to choose

import itertools
import statistics
import time

import keras


class EpochClock(keras.callbacks.Callback):
    """Stamps epochs only: a batch hook would make `steptime.fit` return to Python at each batch."""

    def __init__(self) -> None:
        super().__init__()
        self.begin_ns: list[int] = []
        self.end_ns = 0

    def on_epoch_begin(self, epoch, logs=None):
        self.begin_ns.append(time.perf_counter_ns())

    def on_train_end(self, logs=None):
        self.end_ns = time.perf_counter_ns()

    def epochs_s(self) -> list[float]:
        """From the begin of each epoch to the begin of the next, with everything Keras does in between."""
        stamps = [*self.begin_ns, self.end_ns]
        return [(after - before) / 1e9 for before, after in itertools.pairwise(stamps)]


class BatchClock(EpochClock):
    """Stamps the end of each batch as well; Keras' own loop calls its callbacks at each batch anyway."""

    def __init__(self) -> None:
        super().__init__()
        self.batches_ns: list[list[int]] = []

    def on_epoch_begin(self, epoch, logs=None):
        super().on_epoch_begin(epoch, logs)
        self.batches_ns.append([])

    def on_train_batch_end(self, batch, logs=None):
        self.batches_ns[-1].append(time.perf_counter_ns())

    def steps_s(self) -> list[float]:
        """Mean time of a step within each epoch, without the start of its iterator and what follows."""
        return [(stamps[-1] - stamps[0]) / 1e9 / (len(stamps) - 1) for stamps in self.batches_ns]


class BlockClock(EpochClock):
    """Stamps epochs, and as observer of `steptime.fit` hears how long each block of steps took."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: dict[int, list[tuple[int, int]]] = {}

    def on_block(self, *, epoch, n_steps, duration_ns, **_):
        self.blocks.setdefault(epoch, []).append((duration_ns, n_steps))

    def on_validation(self, **_):
        pass

    def on_decision(self, text):
        pass

    def steps_s(self) -> list[float]:
        """Mean time of a step within each epoch."""
        totals = [map(sum, zip(*blocks, strict=True)) for _, blocks in sorted(self.blocks.items())]
        return [duration_ns / 1e9 / n_steps for duration_ns, n_steps in totals]


def summary(clock: BatchClock | BlockClock, *, dropped: int = 1) -> dict[str, float]:
    """Steady state of one training, without its first `dropped` epochs.

    Returns:
        `epoch_s`, median of whole epochs; `step_s`, median over epochs of the time of a step inside the
        epoch; `longest_epoch_s`.
    """
    epochs_s, steps_s = clock.epochs_s()[dropped:], clock.steps_s()[dropped:]
    return {
        "epoch_s": statistics.median(epochs_s),
        "step_s": statistics.median(steps_s),
        "longest_epoch_s": max(epochs_s),
    }
