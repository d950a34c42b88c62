"""Listens to the training: times blocks, tells the parent how far it is, proves placement, stops on request."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steptime.engine.stop import StopRequested
from steptime.record.events import EventWriter
from steptime.record.schema import Epoch
from steptime.worker.faults import Place
from steptime.worker.proof import GraphRecorder
from steptime.worker.signals import Stop, StopSignals

# How often the parent hears of progress; a person reads no faster.
_PROGRESS_INTERVAL_NS = 250_000_000


# The loop that is one XLA program, of which TensorFlow keeps no graph.
XLA = "xla"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Training steps executed in one go; see ``steptime.engine.observer`` for the meaning of the fields.

    ``n_samples`` is None when the input does not tell; ``end_ns`` is when it ended, from the start of the process.
    """

    epoch: int
    first_step: int
    n_steps: int
    n_samples: int | None
    duration_ns: int
    loop: str
    compiled: bool
    logs: Mapping[str, float]
    end_ns: int


@dataclass(slots=True, kw_only=True)
class TrainingWatch:
    """The worker's observer (see ``steptime.engine.observer``).

    ``stop_together`` is called instead of raising ``StopRequested`` where other processes train along.
    """

    events: EventWriter
    recorder: GraphRecorder
    signals: StopSignals
    steps_per_epoch: int | None
    origin_ns: int
    batch_size: int | None
    samples: int | None
    blocks: list[Block] = field(default_factory=list)
    validation_ns: dict[int, int] = field(default_factory=dict)
    epoch_end_ns: dict[int, int] = field(default_factory=dict)
    graphs: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    iterations: Callable[[], int | None] = lambda: None
    # Whether a request ends the training at the end of a block. Who writes checkpoints asks for requests and stops by
    # itself; Keras' own fit, which takes over what the engine cannot do, never asks.
    stops: bool = True
    # Blocks of earlier processes, whose training goes on here.
    earlier: int = 0
    own_validation_ns: int = 0
    _iterations_before: int | None = None
    stop_together: Callable[[], None] | None = None
    _last_progress_ns: int = 0

    def on_block(self, **fields: Any) -> None:
        """Keep the block, and tell the parent a few times a second.

        Raises:
            StopRequested: A signal asked for it.
        """
        now_ns = time.perf_counter_ns()
        block = Block(
            **fields,
            n_samples=self._samples_in(fields["first_step"], fields["n_steps"]),
            end_ns=now_ns - self.origin_ns,
        )
        graphs = self.recorder.stop()
        if graphs:
            # TensorFlow tells a function's graph when it first runs: later ones are of what runs beside the steps.
            self.graphs[block.loop] = (*self.graphs.get(block.loop, ()), *graphs)
        elif block.loop not in self.graphs and block.loop != XLA:
            self.recorder.start()  # this loop came unannounced; its next block will be its proof
        self.blocks.append(block)
        if len(self.blocks) == 1:
            self._iterations_before = _difference(self.iterations(), block.n_steps)
        if now_ns - self._last_progress_ns >= _PROGRESS_INTERVAL_NS:
            self._last_progress_ns = now_ns
            self._tell_progress(block)
        self._stop_if_asked()

    def on_validation(self, *, epoch: int, duration_ns: int) -> None:
        """Keep the time of an epoch's validation."""
        self.validation_ns[epoch] = duration_ns
        self.own_validation_ns += duration_ns

    def on_decision(self, text: str) -> None:
        """Pass the choice of the loop on to the person, and collect the graphs of the loop that runs next."""
        self.events.write("note", text=text)
        self.recorder.start()

    def epoch_ended(self, epoch: int, logs: Mapping[str, Any]) -> None:
        """Tell the parent what an epoch gave.

        Raises:
            StopRequested: A signal asked for it.
        """
        self.epoch_end_ns[epoch] = time.perf_counter_ns() - self.origin_ns
        self.events.write(
            "epoch",
            epoch=epoch,
            logs=finite_logs(logs),
            train_ns=sum(block.duration_ns for block in self.blocks if block.epoch == epoch),
            validate_ns=self.validation_ns.get(epoch),
        )
        self._stop_if_asked()

    def get_state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps of the times until now."""
        return {
            "columns": self.arrays(),
            "validation_ns": dict(self.validation_ns),
            "epoch_end_ns": dict(self.epoch_end_ns),
            "iterations_before": self._iterations_before,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Take over the times of an earlier process; its clock goes on where it stood."""
        columns = state["columns"]
        names = ("epoch", "first_step", "n_steps", "n_samples", "duration_ns", "end_ns", "loop", "compiled")
        values = [columns[{"n_steps": "steps", "n_samples": "samples"}.get(name, name)] for name in names]
        logs = {"loss": columns["loss"]} | {
            name.removeprefix("logs."): column for name, column in columns.items() if name.startswith("logs.")
        }
        self.blocks = [
            Block(
                **dict(zip(names, row, strict=True)),
                logs={name: float(column[index]) for name, column in logs.items()},
            )
            for index, row in enumerate(zip(*(column.tolist() for column in values), strict=True))
        ]
        self.earlier = len(self.blocks)
        self.validation_ns = dict(state["validation_ns"])
        self.epoch_end_ns = dict(state["epoch_end_ns"])
        self._iterations_before = state["iterations_before"]
        if self.blocks:
            last_ns = max([self.blocks[-1].end_ns, *self.epoch_end_ns.values()])
            self.origin_ns = time.perf_counter_ns() - last_ns

    def place(self) -> Place:
        """Return which step comes next, or fails now.

        Steps of a block that fails are counted by the optimizer: it has made them, and nobody was told.
        """
        now = self.iterations()
        if not self.blocks:
            return Place(epoch=0, step=0) if now == 0 else Place(epoch=None, step=None)
        last = self.blocks[-1]
        if self.signals.stop is Stop.AT_ONCE_KEEPING:
            return Place(epoch=last.epoch, step=None, in_validation=True)
        untold = _difference(now, self._iterations_before, *(block.n_steps for block in self.blocks))
        if untold is None or untold < 0:
            return Place(epoch=last.epoch, step=None)
        step = last.first_step + last.n_steps + untold
        if last.epoch in self.epoch_end_ns:
            return Place(epoch=last.epoch + 1, step=untold)
        return Place(epoch=last.epoch, step=step)

    def main_loop(self) -> str:
        """Return the loop that executed most of the steps."""
        steps: Counter[str] = Counter()
        for block in self.blocks:
            steps[block.loop] += block.n_steps
        return steps.most_common(1)[0][0]

    def arrays(self) -> dict[str, "np.ndarray[Any, Any]"]:
        """Return one column for each property of the blocks, for steps.npz."""
        metrics = dict.fromkeys(name for block in self.blocks for name in block.logs if name != "loss")
        return {
            "epoch": np.array([block.epoch for block in self.blocks], np.int64),
            "first_step": np.array([block.first_step for block in self.blocks], np.int64),
            "steps": np.array([block.n_steps for block in self.blocks], np.int64),
            "samples": np.array([block.n_samples or 0 for block in self.blocks], np.int64),
            "duration_ns": np.array([block.duration_ns for block in self.blocks], np.int64),
            "end_ns": np.array([block.end_ns for block in self.blocks], np.int64),
            "compiled": np.array([block.compiled for block in self.blocks], np.bool_),
            "loss": np.array([block.logs.get("loss", np.nan) for block in self.blocks], np.float64),
            "loop": np.array([block.loop for block in self.blocks], np.str_),
            **{
                f"logs.{name}": np.array([block.logs.get(name, np.nan) for block in self.blocks], np.float64)
                for name in metrics
            },
        }

    def is_stop_requested(self) -> bool:
        """Whether a signal asked to stop; whoever asks ends the training itself."""
        self.stops = False
        return self.signals.requested

    def _stop_if_asked(self) -> None:
        if not self.stops or not self.signals.requested:
            return
        if self.stop_together is None:
            raise StopRequested
        self.stop_together()

    def _samples_in(self, first_step: int, n_steps: int) -> int | None:
        if self.batch_size is None:
            return None
        begin, end = first_step * self.batch_size, (first_step + n_steps) * self.batch_size
        # Only the last batch of a pass is shorter.
        return end - begin if self.samples is None else min(end, max(self.samples, begin + 1)) - begin

    def _tell_progress(self, block: Block) -> None:
        recent = [item for item in self.blocks[-8:] if not item.compiled] or [block]
        samples = sum(item.n_samples or 0 for item in recent)
        duration_ns = sum(item.duration_ns for item in recent)
        self.events.write(
            "progress",
            epoch=block.epoch,
            step=block.first_step + block.n_steps,
            steps=self.steps_per_epoch,
            samples_per_s=samples / duration_ns * 1e9 if samples and duration_ns else None,
            logs=finite_logs(block.logs),
        )


def _difference(value: int | None, *others: int | None) -> int | None:
    for other in others:
        value = None if value is None or other is None else value - other
    return value


def finite_logs(logs: Mapping[str, Any]) -> dict[str, float | None]:
    """Return logs as plain floats; NaN and infinities become None, as JSON has neither."""
    values = {key: float(value) for key, value in logs.items()}
    return {key: value if np.isfinite(value) else None for key, value in values.items()}


def epochs_of(watch: TrainingWatch, logs: Mapping[int, Mapping[str, float]]) -> tuple[Epoch, ...]:
    """Return the epochs, the last of which may be unfinished: its logs are then those of its last block."""
    epochs = []
    for number in sorted({block.epoch for block in watch.blocks}):
        blocks = [block for block in watch.blocks if block.epoch == number]
        epochs.append(
            Epoch(
                epoch=number,
                logs=finite_logs(logs.get(number, blocks[-1].logs)),
                steps=sum(block.n_steps for block in blocks),
                train_ns=sum(block.duration_ns for block in blocks),
                validate_ns=watch.validation_ns.get(number),
                end_ns=watch.epoch_end_ns.get(number),
            )
        )
    return tuple(epochs)
