"""The machinery of one `fit` under a strategy, in the place of `steptime.engine.assembly.Engine`."""

import keras
import tensorflow as tf

from steptime.engine import memory, private_keras
from steptime.engine.cadence import Cadence
from steptime.engine.checkpoints.state import LoopState
from steptime.engine.choice import Choice
from steptime.engine.distribution import sameness
from steptime.engine.distribution.group import Group
from steptime.engine.distribution.loops import SharedArrays, SharedStream
from steptime.engine.distribution.step import GroupStep
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.loops.loop import Loop
from steptime.engine.prior import Prior
from steptime.engine.private_keras import distribution as private
from steptime.engine.report import Candidate, FitReport
from steptime.engine.request import FitRequest
from steptime.engine.runner import Runner
from steptime.engine.step import step_function

LOOP = "graph"


class GroupEngine:
    """Made at the first step, after callbacks had their say about the model.

    Args:
        model: The model, built under the group's strategy.
        group: Who trains.
        feed: The data, the same in every process unless `own_data`.
        request: What the person asked for.
        cadence: What callbacks need.
        own_data: Whether each process reads data of its own.
    """

    def __init__(
        self,
        model: keras.Model,
        group: Group,
        feed: ArrayFeed | StreamFeed,
        request: FitRequest,
        cadence: Cadence,
        *,
        own_data: bool,
    ) -> None:
        self._model = model
        self._group = group
        self._loop: Loop | None = None
        asked = f" ({request.loop} was asked for)" if request.loop not in ("auto", LOOP) else ""
        self.choice = Choice(
            [Prior(loop=LOOP)],
            total_steps=None,
            asked=True,
            because=f"the one loop for replicas that train in step{asked}: {group}",
        )

        def loop() -> Loop:
            step = group_step(model, group, "train_step")
            stop = cadence.stop_on_infinite_loss
            self._loop = group_loop(step, feed, stop_on_infinite_loss=stop, own_data=own_data)
            return self._loop

        self.runner = Runner(
            self.choice, {LOOP: loop}, None, whole_batch_steps=None, observer=request.observer
        )

    @property
    def touched(self) -> tuple[tf.Variable, ...]:
        """No variables beside those of model and optimizer are known."""
        return ()

    def loop_state(self) -> LoopState:
        """There is one loop, and nothing to remember of it."""
        return LoopState()

    def run_into_the_end(self, loop: str) -> None:
        """Nothing to do: what one device does by the way at an unforeseen end does not matter here."""

    def report(self, notes: tuple[str, ...], seed: int | None) -> FitReport:
        """What was executed, and how it differs from one device where it does."""
        measured = self.choice.measured()
        candidate = Candidate(
            loop=LOOP,
            step_s=self.choice.typical_step_s(LOOP),
            compile_s=measured[LOOP].compile_s if LOOP in measured else None,
            reason=None,
            verification=None,
        )
        resident = self._loop.resident_bytes if isinstance(self._loop, SharedArrays) else 0
        return FitReport(
            loop=LOOP,
            reason=self.choice.reason or f"{LOOP}: the training ended before its first step",
            candidates=(candidate,),
            resident="training data" if resident else "",
            resident_bytes=resident,
            segments=tuple(self.runner.segments),
            notes=(*notes, *differences(self._model, self._group)),
            seed=seed,
        )


def group_step(model: keras.Model, group: Group, name: str) -> GroupStep:
    """The model's step for a group, kept with the model until it is compiled anew."""
    function = step_function(model, name)
    if function.group_step is None:
        # A step of the person's own may return anything; Keras' own returns the metrics.
        function.group_step = GroupStep(model, group, name, own_logs=private_keras.overrides(model, name))
    step: GroupStep = function.group_step
    return step


def group_loop(
    step: GroupStep,
    feed: ArrayFeed | StreamFeed,
    *,
    stop_on_infinite_loss: bool = False,
    own_data: bool = False,
) -> Loop:
    """The loop for a group's data: gathered from arrays on each device, or cut from batches on the host."""
    if isinstance(feed, ArrayFeed) and _fits(step.group, feed):
        return SharedArrays(step, feed, stop_on_infinite_loss=stop_on_infinite_loss)
    return SharedStream(step, feed, stop_on_infinite_loss=stop_on_infinite_loss, own_data=own_data)


def _fits(group: Group, feed: ArrayFeed) -> bool:
    if any(s is not None and s.dtype == tf.string for s in tf.nest.flatten(feed.element_spec)):
        return False
    places = {_short(device) for device in group.devices}
    places = {"/CPU:0"} if all(place.startswith("/CPU") for place in places) else places
    return all(memory.why_not_resident(feed.bytes, place) is None for place in places)


def _short(device: str) -> str:
    spec = tf.DeviceSpec.from_string(device)
    return f"/{spec.device_type}:{spec.device_index}"


def prepare(model: keras.Model, group: Group, feed: ArrayFeed | StreamFeed) -> None:
    """Makes every variable inside the scope before anything is traced, and compares what processes are to do.

    Raises:
        UsageError: Processes differ in their data, their model or what they run on.
    """
    with group.strategy.scope():
        private.build_state(model, feed.element_spec)
    facts = {"versions": sameness.versions(), "model": sameness.model_text(model)}
    if isinstance(feed, ArrayFeed) and group.workers > 1:
        facts["batch size"] = str(feed.batch_size)
        facts["data"] = sameness.arrays_text(feed.host)
    sameness.check_same(group, facts)


def differences(model: keras.Model, group: Group) -> tuple[str, ...]:
    """What a training by several replicas does not do as one device does it, for this model."""
    if group.replicas == 1:
        return ()
    layers = private_keras.flatten_layers(model)
    notes = []
    if any(
        isinstance(layer, keras.layers.BatchNormalization) and not layer.synchronized and layer.trainable
        for layer in layers
    ):
        notes.append(
            "batch normalisation takes its statistics from each replica's share of the batch, and its moving "
            "averages are averaged over replicas; BatchNormalization(synchronized=True) takes the whole batch"
        )
    if any(getattr(layer, "seed_generator", None) is not None for layer in layers):
        notes.append(
            "random layers draw the same numbers in every replica, each for its own share of the batch"
        )
    return tuple(notes)
