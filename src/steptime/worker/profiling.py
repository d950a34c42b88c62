"""The phase that takes a job apart instead of training it to the end: profile.json and ops.json."""

import dataclasses
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import keras

from steptime.device.host import describe_host
from steptime.engine import private_keras
from steptime.engine.evaluate import evaluate
from steptime.engine.timing.session import Pace
from steptime.engine.timing.source import SharedGenerator, Source
from steptime.errors import RunError, UsageError
from steptime.plan.settings import Settings
from steptime.record.operations import Operations, write_operations
from steptime.record.profile import (
    PROFILE_VERSION,
    Pipeline,
    Profile,
    Threads,
    TraceNote,
    Tracing,
    Validation,
    write_profile,
)
from steptime.record.schema import Job
from steptime.worker.data import Part, slice_of
from steptime.worker.digest import digest
from steptime.worker.dissection import Measured, Subject, time_steps
from steptime.worker.inventory import Inventory, take_inventory
from steptime.worker.own_callbacks import harmless
from steptime.worker.pipeline import describe_pipeline
from steptime.worker.python_side import python_costs
from steptime.worker.tracing import Traced, trace_steps

TRACE_FOLDER = "tb/profile"
_VALIDATION_S = 0.5
# The wait for input may exceed what the pipeline alone takes by this share: both compete for the same cores.
_COMPETITION = 0.25


@dataclass(slots=True, kw_only=True)
class Profiling:
    """Takes one job apart.

    Attributes:
        folder: The run folder.
        settings: How the job would train.
        device: cpu or gpu:N.
        note: Tells a person what goes on.
        is_stopped: Whether somebody asked to stop.
        pace: How long the timings may take.
        unavailable: What could not be measured, and why.
    """

    folder: Path
    settings: Settings
    device: str
    note: Callable[[str], None]
    is_stopped: Callable[[], bool]
    pace: Pace = field(default_factory=Pace)
    unavailable: dict[str, str] = field(default_factory=dict)

    def run(
        self,
        model: keras.Model,
        training: Part,
        validation: Part | None,
        callbacks: list[keras.callbacks.Callback],
        job: Job,
    ) -> None:
        """Time, count and trace the job, and write what was found.

        Raises:
            RunError: Not one step could be timed.
        """
        kept, left_out = harmless(callbacks, self.folder / "callbacks")
        self.unavailable |= left_out
        subject = self._subject(model, training, kept)
        self.note("timing steps")
        measured = time_steps(subject, self.is_stopped, self.pace)
        shutil.rmtree(self.folder / "callbacks", ignore_errors=True)
        if measured is None:
            if self.is_stopped():
                return
            raise RunError(
                "At least a few training steps must run to be timed. The training ended before",
                hint="Give it more data, or leave out callbacks that stop the training.",
            )
        profile = self._profile(subject, measured, job)
        profile = dataclasses.replace(profile, validation=self._validation(model, validation))
        # What follows takes longer; what is known until now survives if it is stopped.
        write_profile(self.folder, profile)
        self.note("counting operations")
        inventory = take_inventory(model, measured.arms)
        self.unavailable |= inventory.reasons
        self.note("tracing a few steps")
        trace = self._trace(model, measured, inventory)
        write_profile(
            self.folder,
            dataclasses.replace(
                profile,
                layers=inventory.layers,
                counts=inventory.counts,
                trace=trace,
                python=self._python(measured),
                unavailable=self.unavailable,
            ),
        )

    def _subject(
        self, model: keras.Model, training: Part, callbacks: list[keras.callbacks.Callback]
    ) -> Subject:
        settings = self.settings
        stream = training.stream
        is_generator = stream is not None and hasattr(stream, "__next__")
        source = Source(
            x=training.x if stream is None else SharedGenerator(stream) if is_generator else stream,
            y=training.y,
            sample_weight=training.sample_weight,
            batch_size=settings.batch_size if stream is None else None,
            shuffle=settings.shuffle,
        )
        kernels: dict[str, bool | str] = {"auto": "auto", "on": True, "off": False}
        return Subject(
            model=model,
            source=source,
            callbacks=callbacks,
            epochs=settings.epochs,
            steps_per_epoch=settings.steps_per_epoch,
            loop=settings.loop,
            exact_kernels=kernels[settings.exact_kernels],
            seed=settings.seed,
        )

    def _profile(self, subject: Subject, measured: Measured, job: Job) -> Profile:
        model, settings, host = subject.model, self.settings, describe_host()
        pipeline = describe_pipeline(subject.source)
        return Profile(
            schema_version=PROFILE_VERSION,
            device=self.device,
            batch_size=measured.timings.as_is.batch_size,
            steps_per_epoch=job.steps_per_epoch,
            epochs=settings.epochs,
            precision=str(model.dtype_policy.name),
            floatx=keras.config.floatx(),
            optimizer=job.optimizer,
            variables=len(model.trainable_variables),
            loop=measured.loop,
            timings=measured.timings,
            pipeline=pipeline,
            callbacks=measured.callbacks,
            tracing=compiling_again(measured, pipeline) or measured.tracing,
            threads=Threads(
                intra=settings.threads,
                inter=settings.inter_threads,
                usable_cores=host.usable_cores,
                quota_cores=host.cpu_quota_cores,
            ),
            unavailable=self.unavailable,
        )

    def _trace(self, model: keras.Model, measured: Measured, inventory: Inventory) -> TraceNote | None:
        arm = measured.arms.live
        if arm is None or self.is_stopped():
            self.unavailable["trace"] = measured.arms.reasons.get("live", "it was stopped before")
            return None
        try:
            traced = trace_steps(arm, measured.step_s, self.folder / TRACE_FOLDER)
            operations = self._digest(model, traced, inventory)
        except Exception as error:  # noqa: BLE001 - the profiler fails in many ways; the timings stand without it
            self.unavailable["trace"] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            return None
        write_operations(self.folder, operations)
        return TraceNote(
            steps=traced.steps,
            profiled_step_s=traced.profiled_s,
            unprofiled_step_s=traced.unprofiled_s,
            folder=TRACE_FOLDER,
            bytes=traced.size_bytes,
        )

    def _digest(self, model: keras.Model, traced: Traced, inventory: Inventory) -> Operations:
        return digest(
            traced.trace,
            traced.steps,
            layers={layer.name: layer.kind for layer in inventory.layers},
            optimizer=str(getattr(model.optimizer, "name", "")),
            work=inventory.work,
        )

    def _python(self, measured: Measured) -> tuple[Any, ...]:
        arm = measured.arms.live
        if measured.loop.name != "keras" or arm is None:
            self.unavailable["python"] = (
                "the loop is one compiled function: Python is entered a few times a second"
            )
            return ()
        times = measured.timings.repeated.step_s or measured.timings.as_is.step_s
        return python_costs(arm, sorted(times)[len(times) // 2])

    def _validation(self, model: keras.Model, part: Part | None) -> Validation | None:
        if part is None or self.is_stopped():
            return None
        try:
            return time_validation(model, part, self.settings)
        except Exception as error:  # noqa: BLE001 - whatever a person's validation raises, the timings stand
            self.unavailable["validation"] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            return None


def compiling_again(measured: Measured, pipeline: Pipeline) -> Tracing | None:
    """Return what compiling for ever new shapes cost: time that neither the step nor the pipeline explains.

    XLA compiles a step anew for each shape, which Python does not see.

    Args:
        measured: The timings.
        pipeline: Says how many shapes were seen.

    Returns:
        None where XLA is not used or all batches have one shape.
    """
    timings = measured.timings
    uses_xla = measured.loop.jit_compile or measured.loop.name == "xla"
    if not uses_xla or pipeline.distinct_shapes < 2 or not (timings.repeated.step_s and timings.input.step_s):
        return None
    as_is, repeated, alone = (
        sum(timing.step_s) / len(timing.step_s) for timing in (timings.as_is, timings.repeated, timings.input)
    )
    callbacks_s = sum(cost.step_s for cost in measured.callbacks)
    rest_s = as_is - repeated - callbacks_s - (1 + _COMPETITION) * alone
    if rest_s <= 0.05 * as_is:
        return None
    return Tracing(
        count=pipeline.distinct_shapes - 1,
        steps=timings.as_is.steps,
        time_s=rest_s,
        shapes=pipeline.batch_shapes,
    )


def time_validation(model: keras.Model, part: Part, settings: Settings) -> Validation:
    """Time a few validation steps.

    Raises:
        UsageError: The validation data are a generator, which would be used up.
    """
    size = settings.validation_batch_size or settings.batch_size
    if part.stream is not None and hasattr(part.stream, "__next__"):
        raise UsageError("Validation data must be read again to be timed.", hint="Return a tf.data.Dataset.")

    def seconds(steps: int) -> float:
        call = evaluate if settings.loop != "keras" else private_keras.stock("evaluate")
        start_ns = time.perf_counter_ns()
        if part.stream is not None:
            call(model, part.stream, steps=steps, verbose=0)
        else:
            data = [
                None if a is None else slice_of(a, steps * size) for a in (part.x, part.y, part.sample_weight)
            ]
            call(model, data[0], data[1], batch_size=size, sample_weight=data[2], verbose=0)
        return (time.perf_counter_ns() - start_ns) / 1e9

    steps = _validation_steps(part, size)
    seconds(1)
    short_s = seconds(1)
    count = max(2, min(steps or 64, int(_VALIDATION_S / max(short_s / 4, 1e-4))))
    seconds(count)  # a compiled loop may be made anew for another number of samples
    long_s = seconds(count)
    # What a call costs once is left out, unless a busy machine made the short one the longer.
    step_s = (long_s - short_s) / (count - 1) if long_s > short_s else long_s / count
    return Validation(
        step_s=step_s,
        steps=steps,
        epoch_s=None if steps is None else short_s + step_s * (steps - 1),
        every_epochs=settings.validation_freq,
        batch_size=size if part.stream is None else None,
    )


def _validation_steps(part: Part, size: int) -> int | None:
    if part.samples is not None:
        return -(-part.samples // size)
    cardinality = getattr(part.stream, "cardinality", None)
    count = int(cardinality()) if cardinality else -1
    return count if count >= 0 else None
