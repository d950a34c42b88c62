"""One `fit`: Keras' epochs and callbacks around blocks of steps."""

import inspect
import random
import time
from typing import Any

import keras

from steptime.engine import memory, private_keras
from steptime.engine.assembly import Engine
from steptime.engine.cadence import Cadence
from steptime.engine.distribution.callbacks import of_follower
from steptime.engine.distribution.engine import GroupEngine, prepare
from steptime.engine.distribution.group import group_of
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.report import nothing_ran
from steptime.engine.request import FitRequest
from steptime.engine.step import step_function
from steptime.engine.validation import Validation


class Training:
    """Trains `model` as `request` says.

    Args:
        model: A compiled model that `support` accepted.
        request: What to do.
    """

    def __init__(self, model: keras.Model, request: FitRequest) -> None:
        self._model = model
        self._request = request
        self._group = group_of(model)
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
        self._cadence = Cadence(self._callbacks.callbacks)
        self._engine: Engine | GroupEngine | None = None
        self._logs: Any = {}
        self._steps_done = 0
        self._total_steps: int | None = None

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
        prefetch_to = None if device == "/CPU:0" or self._group is not None else device
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
        """Runs all epochs, in the order of calls of `keras.Model.fit`."""
        model, request, callbacks = self._model, self._request, self._callbacks
        validation = None
        if self._validation_data is not None:
            validation = Validation(model, self._validation_data, request, callbacks)
        self._feed.restart()
        model.stop_training = False
        if self._group is None:
            self._function = step_function(model, "train_step")
        else:
            prepare(model, self._group, self._feed)
        callbacks.on_train_begin()
        first = private_keras.initial_epoch(model, request.initial_epoch)
        if isinstance(self._feed, ArrayFeed):
            self._feed.start_at(first)
        epochs, steps = range(first, self._epochs), self._feed.num_batches
        self._total_steps = None if steps is None else steps * len(epochs)
        logs: dict[str, Any] | None = None
        for epoch in epochs:
            logs = self._epoch(epoch)
            if validation is not None and private_keras.should_evaluate(
                model, epoch, request.validation_freq
            ):
                logs.update(self._validate(validation, epoch))
            callbacks.on_epoch_end(epoch, logs)
            if self._agreed(0)[1]:
                break
        if isinstance(model.optimizer, keras.optimizers.Optimizer) and self._epochs > 0:
            model.optimizer.finalize_variable_values(model.trainable_weights)
        if validation is not None:
            validation.close()
        callbacks.on_train_end(logs=logs)
        return self._history()

    def _epoch(self, epoch: int) -> dict[str, Any]:
        self._model.reset_metrics()
        self._callbacks.on_epoch_begin(epoch)
        self._feed.begin_epoch()
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
        if self._engine is None:
            self._engine = self._make_engine()
        runner, step = self._engine.runner, 0
        while True:
            limits = [n for n in (self._feed.available(), self._cadence.limit(step)) if n is not None]
            left = None if self._total_steps is None else max(self._total_steps - self._steps_done, 1)
            planned = runner.plan(min(limits, default=None), self._feed.position, left)
            planned, stop = self._agreed(planned)
            if stop:
                return
            claim = self._feed.claim(planned)
            if claim is None:
                return
            self._callbacks.on_train_batch_begin(claim.first)
            block = runner.run(epoch, claim)
            if block.steps:
                step = claim.first + block.steps
                self._steps_done += block.steps
                self._logs = block.logs
                self._callbacks.on_train_batch_end(step - 1, block.logs)
            if self._model.stop_training and (self._group is None or self._group.workers == 1):
                return
            if block.steps < claim.steps:
                self._feed.ran_out(claim.steps - block.steps)
                self._engine.run_into_the_end(runner.loop)
                raise StopIteration

    def _make_engine(self) -> Engine | GroupEngine:
        model, feed, request = self._model, self._feed, self._request
        if self._group is None:
            return Engine(model, self._function, feed, request, self._cadence, self._total_steps)
        # A generator cannot be read twice alike, so each process is meant to have its own.
        own_data = inspect.isgenerator(request.x)
        return GroupEngine(model, self._group, feed, request, self._cadence, own_data=own_data)

    def _agreed(self, steps: int) -> tuple[int, bool]:
        """Steps that all processes run next, and whether one of them was told to stop: then all stop."""
        if self._group is None:
            return steps, bool(self._model.stop_training)
        steps, stop = self._group.agree(steps, stop=bool(self._model.stop_training))
        self._model.stop_training = stop
        return steps, stop

    def _validate(self, validation: Validation, epoch: int) -> dict[str, Any]:
        start_ns = time.perf_counter_ns()
        logs = validation.run()
        if self._request.observer is not None:
            duration_ns = time.perf_counter_ns() - start_ns
            self._request.observer.on_validation(epoch=epoch, duration_ns=duration_ns)
        return {f"val_{name}": value for name, value in logs.items()}

    def _history(self) -> keras.callbacks.History:
        history: keras.callbacks.History = self._model.history
        notes = () if self._cadence.cost is None else (self._cadence.cost,)
        if self._engine is None:
            history.steptime = nothing_ran(notes)
        else:
            history.steptime = self._engine.report(notes, self._seed)
        return history
