"""Checkpoints of one `fit`: from which to go on, when to take the next, and what they cost."""

import contextlib
import datetime
import math
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

from steptime.engine.assembly import Engine
from steptime.engine.checkpoints import callbacks as memories
from steptime.engine.checkpoints import format as files
from steptime.engine.checkpoints import snapshot
from steptime.engine.checkpoints.former import best_of, find_former
from steptime.engine.checkpoints.identity import identity_of, learning_rate_of
from steptime.engine.checkpoints.policy import Checkpoints
from steptime.engine.checkpoints.rhythm import Rhythm
from steptime.engine.checkpoints.state import Position, TrainingState
from steptime.engine.checkpoints.variables import Named, variables_of
from steptime.engine.checkpoints.voice import Voice
from steptime.engine.checkpoints.writer import Draft, Writer
from steptime.engine.distribution.engine import GroupEngine
from steptime.engine.distribution.group import Group
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.report import CheckpointCost
from steptime.engine.request import FitRequest
from steptime.engine.stop import StopRequested
from steptime.plan.cadence import Every, parse_every
from steptime.plan.codec import to_json
from steptime.record.lock import lock


class Session:
    """Opens the folder and finds out where to go on; then takes checkpoints.

    Args:
        policy: What the person asked for.
        model: Before anything was trained.
        feed: The data.
        callbacks: Of the fit.
        request: Its arguments.
        group: Who trains together: then the chief writes, between epochs only, and all read. None for one device.

    Attributes:
        former: The checkpoint to go on from; None where the training begins.

    Raises:
        UsageError: Something has changed since the checkpoint, or the folder is not as the policy says.
        RecordError: There are checkpoints, and none is whole.
    """

    def __init__(
        self,
        policy: Checkpoints,
        model: keras.Model,
        feed: ArrayFeed | StreamFeed,
        callbacks: Sequence[keras.callbacks.Callback],
        request: FitRequest,
        group: Group | None = None,
    ) -> None:
        self._policy = policy
        self._group = group
        self._is_writer = group is None or group.is_chief
        self._model = model
        self._feed = feed
        self._callbacks = callbacks
        self._folder = Path(policy.folder)
        self._voice = Voice(policy.tell)
        self._identity = identity_of(model, feed, request)
        self._versions = snapshot.versions(1 if group is None else group.replicas)
        self._lock = contextlib.ExitStack()
        try:
            if self._is_writer:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._lock.enter_context(lock(self._folder))
                files.remove_parts(self._folder)
            self.former = find_former(policy, self._identity, self._voice, group)
        except BaseException:
            self._lock.close()
            raise
        self._prepare()

    def _prepare(self) -> None:
        policy = self._policy
        self._sequence = max((files.sequence_of(path) for path in files.listed(self._folder)), default=0)
        best = best_of(self._folder) if policy.best else None
        self._writer = Writer(self._folder, policy.keep, best, self._voice.warn)
        self._begin_s = time.perf_counter()
        self._stall_s = self._last_stall_s = 0.0
        every = parse_every(policy.every)
        self._every = every if every is not None else Every()
        self._rhythm = Rhythm(self._every, self._begin_s, self.former.start.steps_done if self.former else 0)
        self._variables: list[Named] = []
        self._seeds: dict[str, np.ndarray[Any, Any]] = {}
        self._engine: Engine | GroupEngine | None = None
        for text in memories.why_not_kept(self._callbacks):
            self._voice.say(text)
        if isinstance(self._feed, StreamFeed):
            if self._is_writer:
                self._feed.keep_anchors(self._part("anchor"))
            if self._feed.why_not_saved:
                self._voice.say(
                    f"the position in the data cannot be saved, since {self._feed.why_not_saved}: a resume reads "
                    "them again from the beginning, which is exact only if they repeat themselves"
                )

    def _part(self, name: str) -> Path:
        return self._folder / f"{files.PART}{os.getpid()}-{name}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was said until now."""
        return tuple(self._voice.said)

    def attach(self, engine: Engine | GroupEngine) -> None:
        """Tells which machinery runs now."""
        self._engine = engine

    def limit(self, steps_done: int) -> int | None:
        """Most steps that may be trained in one piece."""
        return None if self._group is not None else self._rhythm.limit(steps_done)

    def between_steps(self, position: Position, logs: Mapping[str, Any]) -> None:
        """Takes one if it is due.

        Raises:
            StopRequested: Somebody asked for it; one was taken and written.
        """
        if self._group is not None:
            return
        if self._is_stop_requested():
            self._save_and_wait(position, logs)
            raise StopRequested
        if self._rhythm.is_due(time.perf_counter(), position.steps_done) and not self._is_too_busy():
            self._save(position, logs)

    def after_epoch(self, position: Position, logs: Mapping[str, Any], *, is_last: bool) -> None:
        """Takes one if it is due, always after the last epoch.

        Raises:
            StopRequested: Somebody asked for it; one was taken and written.
        """
        if self._group is not None and self._skips(self._group, position):
            return
        if self._group is None and self._is_stop_requested() and not is_last:
            self._save_and_wait(position, logs)
            raise StopRequested
        cost_s = self._last_stall_s + self._writer.last_write_s
        now_s, steps, epochs = time.perf_counter(), position.steps_done, position.epoch
        due = self._rhythm.is_due_at_epoch(now_s, steps, epochs, cost_s) and not self._is_too_busy()
        if due or is_last:
            self._save(position, logs)
        if is_last:
            self._wait()

    def _skips(self, group: Group, position: Position) -> bool:
        """Whether this process keeps nothing here: it is not the chief, or the epoch was broken off by a signal."""
        asked = position.stopped and group.gathered([float(self._is_stop_requested())]).any()
        return bool(asked) or not self._is_writer

    @contextlib.contextmanager
    def validating(self, position: Position, logs: Mapping[str, Any]) -> Iterator[None]:
        """Around a validation: whoever stops it keeps the training as it was before it.

        Raises:
            StopRequested: As it came; a checkpoint was written.
        """
        if self._group is not None:
            yield
            return
        seeds = [v for v in self._all_variables() if "seed_generator_state" in v.name]
        self._seeds = {v.name: v.variable.numpy() for v in seeds}
        try:
            yield
        except StopRequested:
            # Between its hooks this callback has other weights in the model.
            if not any(isinstance(c, keras.callbacks.SwapEMAWeights) for c in self._callbacks):
                self._save_and_wait(position, logs)
            raise
        finally:
            self._seeds = {}

    def close(self) -> None:
        """Lets other processes train in the folder; waits for what is being written, unless interrupted."""
        if not isinstance(sys.exception(), KeyboardInterrupt):
            self._writer.wait()
        if isinstance(self._feed, StreamFeed):
            self._feed.close()
        self._lock.close()

    def cost(self) -> CheckpointCost:
        """What they cost until now."""
        elapsed_s = time.perf_counter() - self._begin_s
        stall_s = self._stall_s + (self._feed.anchor_s if isinstance(self._feed, StreamFeed) else 0.0)
        return CheckpointCost(
            written=self._writer.written,
            bytes=self._writer.bytes,
            stall_s=stall_s,
            write_s=self._writer.write_s,
            share=stall_s / elapsed_s,
        )

    def _is_stop_requested(self) -> bool:
        return self._policy.stop is not None and self._policy.stop()

    def _is_too_busy(self) -> bool:
        return self._every.thrifty and self._writer.is_busy

    def _save(self, position: Position, logs: Mapping[str, Any]) -> None:
        loss = logs.get("loss", 0.0)
        if not math.isfinite(loss):
            # The last good one is worth more than any that comes now.
            self._voice.warn(
                "the loss is not a number: no more checkpoints are taken, the last good ones stay"
            )
            self._rhythm.taken(time.perf_counter(), position.steps_done)
            return
        with self._stalling():
            draft = self._draft(position, logs)
            self._writer.write(draft)
        self._rhythm.taken(time.perf_counter(), position.steps_done)

    def _draft(self, position: Position, logs: Mapping[str, Any]) -> Draft:
        assert self._engine is not None
        self._sequence += 1
        taken = snapshot.take(self._all_variables(), self._callbacks, logs, self._voice.warn)
        iterator = self._save_iterator(position)  # Before the state of the feed, which says where it is.
        for index, (name, _, _) in enumerate(taken.variables):
            taken.arrays[index] = self._seeds.get(name, taken.arrays[index])
        state = TrainingState(
            created=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}",
            versions=self._versions,
            position=position,
            logs=taken.logs,
            feed=self._feed.state(),
            loops=self._engine.loop_state(),
            callbacks=taken.callbacks,
            identity=self._identity,
            learning_rate=learning_rate_of(self._model),
            variables=taken.variables,
            score=self._policy.score(logs) if position.phase == "begin" else None,
        )
        return Draft(
            name=files.name_of(self._sequence, position.epoch, position.step),
            arrays=taken.arrays,
            state=to_json(state),
            iterator=iterator,
            score=state.score,
        )

    def _save_iterator(self, position: Position) -> Path | None:
        if not isinstance(self._feed, StreamFeed):
            return None
        folder = self._part(f"iterator-{self._sequence}")
        try:
            folder.mkdir(parents=True)
            if self._feed.save_iterator(folder / "iterator", inside_epoch=position.phase == "steps"):
                return folder / "iterator"
        except OSError:
            pass  # Then the writer cannot write either, and says so.
        except ValueError as error:
            self._voice.warn(
                f"the position in the data cannot be saved ({error}): a resume reads them again from the beginning"
            )
        shutil.rmtree(folder, ignore_errors=True)
        return None

    def _all_variables(self) -> list[Named]:
        # Layers and optimizers make variables until the first step; after it there are no new ones.
        assert self._engine is not None
        if not self._variables:
            self._variables = variables_of(self._model, self._engine.touched, metrics=self._group is None)
        return self._variables

    def _save_and_wait(self, position: Position, logs: Mapping[str, Any]) -> None:
        self._save(position, logs)
        self._wait()

    def _wait(self) -> None:
        with self._stalling():
            self._writer.wait()

    @contextlib.contextmanager
    def _stalling(self) -> Iterator[None]:
        start_s = time.perf_counter()
        try:
            yield
        finally:
            self._last_stall_s = time.perf_counter() - start_s
            self._stall_s += self._last_stall_s
