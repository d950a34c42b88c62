"""One `fit`: Keras' epochs and callbacks around blocks of steps."""

import dataclasses
import inspect
import random
import time
from typing import Any

import keras

from steptime.engine import infinite, memory, private_keras
from steptime.engine.assembly import Engine
from steptime.engine.cadence import Cadence
from steptime.engine.checkpoints.policy import Checkpoints
from steptime.engine.checkpoints.session import Session
from steptime.engine.checkpoints.state import LoopState, Position
from steptime.engine.distribution.callbacks import of_follower
from steptime.engine.distribution.engine import GroupEngine, prepare
from steptime.engine.distribution.group import agreed, group_of, has_others
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.feed import Claim
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.report import nothing_ran
from steptime.engine.request import FitRequest
from steptime.engine.runner import Block
from steptime.engine.step import step_function
from steptime.engine.stop import StopRequested
from steptime.engine.validation import Validation


class Training:
    """Trains `model` as `request` says.

    Args:
        model: A compiled model that `support` accepted.
        request: What to do.
        checkpoints: Where to keep it; None for nowhere.
    """

    def __init__(
        self, model: keras.Model, request: FitRequest, checkpoints: Checkpoints | None = None
    ) -> None:
        self._model = model
        self._request = request
        self._group = group_of(model)
        self._checkpoints = checkpoints
        self._epochs = private_keras.limit_epochs(request.epochs)
        self._seed: int | None = None
        arrays: Any = (request.x, request.y, request.sample_weight)
        self._validation_data = request.validation_data
        if request.validation_split and request.validation_data is None:
            arrays, self._validation_data = private_keras.split_for_validation(
                arrays, request.validation_split
            )
        self._feed = self._make_feed(*arrays)
        self._callbacks = self._callback_list()
        # On an accelerator a loop that asks for each loss would wait for it at each step: there the block is looked at.
        self._stops_at_step = request.stop_on_infinite_loss and memory.device_name() == "/CPU:0"
        self._cadence = Cadence(self._callbacks.callbacks, stop_on_infinite_loss=self._stops_at_step)
        self._engine: Engine | GroupEngine | None = None
        self._logs: Any = {}
        self._steps_done = 0
        self._total_steps: int | None = None
        self._session: Session | None = None
        if checkpoints is not None:
            callbacks = self._callbacks.callbacks
            self._session = Session(checkpoints, model, self._feed, callbacks, request, self._group)

    def _make_feed(self, x: Any, y: Any, sample_weight: Any) -> ArrayFeed | StreamFeed:
        request = self._request
        steps_per_epoch = private_keras.limit_steps(request.steps_per_epoch)
        arguments = {
            "x": x,
            "y": y,
            "sample_weight": sample_weight,
            "batch_size": request.batch_size,
            "shuffle": request.shuffle,
            "class_weight": request.class_weight,
        }
        if private_keras.are_arrays((x, y, sample_weight)):
            arrays = private_keras.as_arrays(**arguments, steps=steps_per_epoch)
            if arrays.shuffle:
                # Drawn as Keras draws its seeds, so that keras.utils.set_random_seed repeats a training.
                self._seed = random.randint(1, 10**9) if request.seed is None else request.seed
                if self._group is not None:
                    self._seed = int(self._group.gathered([self._seed])[0, 0])  # the chief's
            return ArrayFeed(arrays, seed=self._seed or 0, steps_per_epoch=steps_per_epoch)
        device = memory.device_name()
        # TensorFlow cannot save the position of an iterator that prefetches to a device.
        on_host = device.startswith("/CPU") or self._group is not None or self._checkpoints is not None
        prefetch_to = None if on_host else device
        return StreamFeed(self._model, device=prefetch_to, **arguments, steps_per_epoch=steps_per_epoch)

    def _callback_list(self) -> keras.callbacks.CallbackList:
        request = self._request
        if isinstance(request.callbacks, keras.callbacks.CallbackList):
            return request.callbacks
        is_chief = self._group is None or self._group.is_chief
        return keras.callbacks.CallbackList(
            request.callbacks if is_chief else of_follower(request.callbacks),
            add_history=True,
            add_progbar=request.verbose != 0 and is_chief,
            verbose=request.verbose,
            epochs=self._epochs,
            steps=self._feed.num_batches,
            model=self._model,
        )

    def run(self) -> keras.callbacks.History:
        """Runs all epochs, in the order of calls of `keras.Model.fit`.

        Raises:
            StopRequested: Somebody asked to stop; a checkpoint was written.
        """
        try:
            return self._run()
        except StopRequested:
            self._history()
            raise
        finally:
            if self._session is not None:
                self._session.close()

    def _run(self) -> keras.callbacks.History:
        model, request, callbacks = self._model, self._request, self._callbacks
        data = self._validation_data
        validation = None if data is None else Validation(model, data, request, callbacks)
        self._feed.restart()
        model.stop_training = False
        if self._group is None:
            self._function = step_function(model, "train_step")
        else:
            prepare(model, self._group, self._feed)
        callbacks.on_train_begin()
        start = self._start()
        logs: dict[str, Any] | None = None
        for epoch in range(start.epoch, start.epoch if start.stopped else self._epochs):
            logs = self._epoch(epoch, start.phase if epoch == start.epoch else "begin")
            if validation is not None and private_keras.should_evaluate(
                model, epoch, request.validation_freq
            ):
                logs.update(self._validate(validation, epoch, logs))
            callbacks.on_epoch_end(epoch, logs)
            _, stop = agreed(self._group, model, 0, stop=bool(model.stop_training))
            self._keep_epoch(epoch, logs)
            if stop:
                break
        if isinstance(model.optimizer, keras.optimizers.Optimizer) and self._epochs > 0:
            model.optimizer.finalize_variable_values(model.trainable_weights)
        if validation is not None:
            validation.close()
        callbacks.on_train_end(logs=logs)
        return self._history()

    def _start(self) -> Position:
        """Where the training begins, or goes on."""
        first = private_keras.initial_epoch(self._model, self._request.initial_epoch)
        if isinstance(self._feed, ArrayFeed):
            self._feed.start_at(first)
        steps = self._feed.num_batches
        self._total_steps = None if steps is None else steps * len(range(first, self._epochs))
        former = None if self._session is None else self._session.former
        if former is None:
            return Position(epoch=first, step=0, phase="begin", steps_done=0)
        if former.start.phase == "begin":
            self._go_on()
        return former.start

    def _go_on(self) -> None:
        """Puts back what a checkpoint holds. Callbacks' hooks are over then, and undone where they changed it."""
        assert self._session is not None
        assert self._session.former is not None
        former = self._session.former
        self._steps_done = former.start.steps_done
        engine = self._engine = self._make_engine(former.loops)
        self._logs = former.put_back(self._model, engine, self._feed, self._callbacks.callbacks)
        if self._seed is not None:
            self._seed = self._feed.state()["seed"]

    def _make_engine(self, former: LoopState | None = None) -> Engine | GroupEngine:
        engine: Engine | GroupEngine
        if self._group is None:
            arguments = (self._request, self._cadence, self._total_steps, former)
            engine = Engine(self._model, self._function, self._feed, *arguments)
        else:  # A generator cannot be read twice alike, so each process is meant to have its own.
            own_data = inspect.isgenerator(self._request.x)
            engine = GroupEngine(
                self._model, self._group, self._feed, self._request, self._cadence, own_data=own_data
            )
        if self._session is not None:
            self._session.attach(engine)
        return engine

    def _epoch(self, epoch: int, phase: str) -> dict[str, Any]:
        self._model.reset_metrics()
        self._callbacks.on_epoch_begin(epoch)
        if phase == "begin":
            self._feed.begin_epoch()
        else:
            self._go_on()
        if phase == "validation":
            return dict(self._logs)
        with self._feed.catch_stop_iteration():
            self._train(epoch)
        if self._group is not None:
            return dict(self._logs)
        return dict(private_keras.epoch_logs(self._model, self._logs))

    def _train(self, epoch: int) -> None:
        """Runs the steps of an epoch.

        Raises:
            StopIteration: The data ended before the number of steps was known or reached.
        """
        engine = self._engine = self._engine or self._make_engine()
        runner, step = engine.runner, self._feed.step
        while True:
            planned = runner.plan(self._limit(step), self._feed.position, self._steps_left())
            # As in Keras, an epoch that has begun trains at least one piece.
            planned, stop = agreed(
                self._group, self._model, planned, stop=bool(self._model.stop_training and step)
            )
            if stop:
                return
            claim = self._feed.claim(planned)
            if claim is None:
                return
            self._callbacks.on_train_batch_begin(claim.first)
            block = runner.run(epoch, claim)
            if block.steps:
                step = claim.first + block.steps
                self._check_loss(epoch, claim, block)
                self._steps_done += block.steps
                self._logs = block.logs
                self._callbacks.on_train_batch_end(step - 1, block.logs)
            if self._model.stop_training and not has_others(self._group):
                return
            if block.steps < claim.steps:
                self._feed.ran_out(claim.steps - block.steps)
                engine.run_into_the_end(runner.loop)
                raise StopIteration
            if self._session is not None:
                self._session.between_steps(self._position(epoch, "steps"), self._logs)

    def _check_loss(self, epoch: int, claim: Claim, block: Block) -> None:
        if not self._request.stop_on_infinite_loss:
            return
        last = claim.first + block.steps - 1
        if self._stops_at_step and isinstance(self._feed, ArrayFeed):
            feed, position = self._feed, claim.position + block.steps - 1
            infinite.check(self._model, block.logs, epoch, (last, last), lambda: feed.batch(position))
        first = last if self._stops_at_step else claim.first
        infinite.check(self._model, block.logs, epoch, (first, last))

    def _limit(self, step: int) -> int | None:
        limits = [self._feed.available(), self._cadence.limit(step)]
        if self._session is not None:
            limits.append(self._session.limit(self._steps_done))
        return min((n for n in limits if n is not None), default=None)

    def _steps_left(self) -> int | None:
        return None if self._total_steps is None else max(self._total_steps - self._steps_done, 1)

    def _position(self, epoch: int, phase: str) -> Position:
        return Position(epoch=epoch, step=self._feed.step, phase=phase, steps_done=self._steps_done)

    def _keep_epoch(self, epoch: int, logs: dict[str, Any]) -> None:
        if self._session is None or self._engine is None:
            return
        stopped = bool(self._model.stop_training)
        position = Position(
            epoch=epoch + 1, step=0, phase="begin", steps_done=self._steps_done, stopped=stopped
        )
        is_last = stopped or epoch + 1 >= self._epochs
        self._session.after_epoch(position, private_keras.python_logs(logs), is_last=is_last)

    def _validate(self, validation: Validation, epoch: int, logs: dict[str, Any]) -> dict[str, Any]:
        start_ns = time.perf_counter_ns()
        if self._session is None:
            logs = validation.run()
        else:
            position = self._position(epoch, "validation")
            with self._session.validating(position, private_keras.python_logs(logs)):
                logs = validation.run()
        if self._request.observer is not None:
            duration_ns = time.perf_counter_ns() - start_ns
            self._request.observer.on_validation(epoch=epoch, duration_ns=duration_ns)
        return {f"val_{name}": value for name, value in logs.items()}

    def _history(self) -> keras.callbacks.History:
        history: keras.callbacks.History = self._model.history
        notes = () if self._cadence.cost is None else (self._cadence.cost,)
        cost = None
        if self._session is not None:
            notes, cost = (*notes, *self._session.notes), self._session.cost()
        report = nothing_ran(notes) if self._engine is None else self._engine.report(notes, self._seed)
        history.steptime = dataclasses.replace(report, checkpoints=cost)
        if self._engine is not None:
            self._engine.runner.close()
        return history
