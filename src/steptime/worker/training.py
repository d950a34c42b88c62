"""The phases of a training run, in order: data, build, compile, train, save."""

import dataclasses
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from steptime.engine.fit import fit
from steptime.errors import RunError, UsageError
from steptime.plan.plan import Placement, Plan
from steptime.record.events import EventWriter
from steptime.record.files import write_arrays
from steptime.record.schema import Epoch, Job, Memory
from steptime.record.steps import summarise_blocks
from steptime.record.store import MODEL_FILE, STEPS_FILE
from steptime.worker.compiling import compile_by_settings, loss_text
from steptime.worker.data import Part, read_parts, slice_of
from steptime.worker.loading import guarded, import_workload, workload_function
from steptime.worker.machine import set_up, take_device
from steptime.worker.phases import PhaseClock
from steptime.worker.proof import GraphRecorder, make_proof
from steptime.worker.signals import StopSignals
from steptime.worker.suitability import check_arrays, check_labels, check_model_takes
from steptime.worker.surroundings import describe_surroundings, peak_device_bytes, peak_process_bytes
from steptime.worker.tensorboard import Board
from steptime.worker.watch import StopRequested, TrainingWatch, finite_logs


class _EpochEnd(keras.callbacks.Callback):  # type: ignore[misc]
    """Reports the end of each epoch; overrides no batch hook, so that no loop has to slow down for it."""

    def __init__(self, watch: TrainingWatch, board: Board) -> None:
        super().__init__()
        self.watch = watch
        self.board = board
        self.logs: dict[int, dict[str, float]] = {}

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self.logs[epoch] = {key: float(value) for key, value in (logs or {}).items()}
        blocks = [block for block in self.watch.blocks if block.epoch == epoch]
        duration_s = sum(block.duration_ns for block in blocks) / 1e9
        steps = sum(block.n_steps for block in blocks)
        samples = sum(block.n_samples or 0 for block in blocks)
        speed = {
            "learning_rate": _learning_rate(self.model),
            "samples_per_s": samples / duration_s if samples and duration_s else None,
            "step_ms": duration_s / steps * 1e3 if steps else None,
        }
        self.board.epoch(epoch, self.logs[epoch], speed)
        self.watch.epoch_ended(epoch, self.logs[epoch])


@dataclass(slots=True, kw_only=True)
class Training:
    """One training run; ``facts`` receives the fields of the record as they become known."""

    folder: Path
    plan: Plan
    clock: PhaseClock
    events: EventWriter
    signals: StopSignals
    facts: dict[str, object]

    def run(self) -> None:
        """Go through the phases; what is known when one fails stays in ``facts``."""
        settings, workload = self.plan.settings, self.plan.workload
        if self.plan.placement is None:
            raise UsageError("The plan must hold a placement.", hint="Start runs with `steptime train`.")
        placement, device = take_device(settings.device, self.plan.placement)
        set_up(settings)
        self._take(placement)
        source = Path(workload.target) if workload.kind == "file" else None
        with self.clock.phase("data"):
            try:
                module = import_workload(workload)
            except RunError as error:
                # A file that cannot even be imported is wrong input, not a failed run.
                raise UsageError(error.message, hint=error.hint) from error
            self.facts["environment"] = describe_surroundings(source or _source_of(module))
            load = workload_function(module, workload.data_function, workload)
            training, validation = read_parts(guarded(load, f"{workload.data_function}()"))
            if not settings.validation:
                validation = None
            check_arrays(training, "training", settings)
            if validation is not None:
                check_arrays(validation, "validation", settings)
        with self.clock.phase("build"):
            create = workload_function(module, workload.model_function, workload)
            model = guarded(create, f"{workload.model_function}()")
            if not isinstance(model, keras.Model):
                raise UsageError(
                    f"{workload.model_function}() must return a keras.Model. Received: {type(model).__name__}",
                    hint="tf_keras models are Keras 2: build them with `import keras`.",
                )
            x, y = training.first_batch(settings.batch_size)
            if x is not None:
                check_model_takes(model, slice_of(x, 2) if training.stream is None else x)
        with self.clock.phase("compile"):
            choices = self._compile(model, module, y)
            check_labels(model, training, y)
        self.facts["job"] = _describe_job(model, training, validation, self.plan, choices)
        with self.clock.phase("train"):
            watch = self._train(model, training, validation)
        self._conclude(model, watch, device)
        with self.clock.phase("save"):
            self._save(model)

    def _take(self, placement: Placement) -> None:
        self.facts |= {"device": placement.device, "device_reason": placement.reason}
        self.events.write("device", device=placement.device, reason=placement.reason)

    def _compile(self, model: keras.Model, module: Any, y: Any) -> tuple[str, ...]:
        """Compile the model unless the workload did; return what was chosen, in words."""
        function = getattr(module, self.plan.workload.compile_function, None)
        if function is not None:
            guarded(lambda: function(model), f"{self.plan.workload.compile_function}()")
            if not model.compiled:
                raise UsageError(
                    f"{self.plan.workload.compile_function}(model) must call model.compile(...).",
                    hint="Or leave the function out, and the settings compile the model.",
                )
        if model.compiled:
            return ()
        choices = compile_by_settings(model, y, self.plan.settings)
        for words in choices:
            self.events.write("note", text=words)
        return choices

    def _train(self, model: keras.Model, training: Part, validation: Part | None) -> TrainingWatch:
        settings = self.plan.settings
        job = self.facts["job"]
        watch = TrainingWatch(
            events=self.events,
            recorder=GraphRecorder(),
            signals=self.signals,
            steps_per_epoch=job.steps_per_epoch if isinstance(job, Job) else None,
        )
        board = Board(self.folder / "tb", settings, self.plan.workload.name)
        epoch_end = _EpochEnd(watch, board)
        arguments = training.fit_arguments()
        if training.stream is None:
            arguments |= {"batch_size": settings.batch_size, "shuffle": settings.shuffle}
        if validation is not None:
            arguments["validation_data"] = validation.validation_argument()
        elif settings.validation_split:
            arguments["validation_split"] = settings.validation_split
        self.signals.training = True
        watch.recorder.start()
        try:
            history = guarded(
                lambda: fit(
                    model,
                    **arguments,
                    epochs=settings.epochs,
                    verbose=0,
                    callbacks=[epoch_end],
                    steps_per_epoch=settings.steps_per_epoch,
                    validation_freq=settings.validation_freq,
                    validation_batch_size=settings.validation_batch_size,
                    loop=settings.loop,
                    exact_kernels={"auto": "auto", "on": True, "off": False}[settings.exact_kernels],
                    seed=settings.seed,
                    observer=watch,
                ),
                "Training",
            )
            self.facts["execution"] = dataclasses.asdict(history.steptime)
        except StopRequested:
            pass  # What was trained until now is kept like any other result.
        finally:
            self.signals.training = False
            self.facts["epochs"] = _epochs(watch, epoch_end.logs)
            board.close()
        return watch

    def _conclude(self, model: keras.Model, watch: TrainingWatch, device: str) -> None:
        """Write the block times, and let the proof decide whether the numbers may stand."""
        columns = watch.arrays()
        write_arrays(self.folder / STEPS_FILE, columns)
        steps = summarise_blocks(columns)
        self.facts["steps"] = steps
        self.clock.split(
            "train",
            {"warmup": steps.first_block_ns or 0, "validate": sum(watch.validation_ns.values())},
        )
        device_bytes, why_not = peak_device_bytes(device)
        self.facts["memory"] = Memory(peak_process_bytes=peak_process_bytes(), peak_device_bytes=device_bytes)
        self.facts["unavailable"] = {"memory.peak_device_bytes": why_not} if why_not else {}
        if not watch.blocks:
            return  # Stopped before the first block: nothing was executed that could be proved.
        variables = [*model.variables, *getattr(model.optimizer, "variables", ())]
        graphs = watch.graphs.get(watch.blocks[-1].loop, ())
        proof = make_proof(graphs, variables, device)
        self.facts["proof"] = proof
        if proof.contradiction:
            raise RunError(
                f"The run must execute on {device}. {proof.contradiction[0].upper()}{proof.contradiction[1:]}",
                hint="Remove tf.device(...) from the workload, or ask for the device it names.",
            )

    def _save(self, model: keras.Model) -> None:
        path = self.folder / MODEL_FILE
        part = self.folder / f".part-{MODEL_FILE}"
        try:
            model.save(part)
            part.replace(path)
        except (ValueError, TypeError, NotImplementedError) as error:
            part.unlink(missing_ok=True)
            reason = f"Keras cannot save this model: {' '.join(str(error).split())[:200]}"
            known = self.facts.get("unavailable")
            self.facts["unavailable"] = {**(known if isinstance(known, dict) else {}), "model_file": reason}
            self.events.write("note", text=reason)
            return
        self.facts["model_file"] = MODEL_FILE
        if self.plan.export:
            shutil.copyfile(path, self.plan.export)


def _describe_job(
    model: keras.Model, training: Part, validation: Part | None, plan: Plan, choices: tuple[str, ...]
) -> Job:
    batch_size, steps = plan.settings.batch_size, plan.settings.steps_per_epoch
    samples = training.samples
    if training.stream is not None:
        batch_size = None  # type: ignore[assignment]
        if isinstance(training.stream, tf.data.Dataset) and steps is None:
            cardinality = int(training.stream.cardinality())
            steps = cardinality if cardinality >= 0 else None
    elif samples is not None and steps is None:
        held_back = int(samples * plan.settings.validation_split) if validation is None else 0
        steps = -(-(samples - held_back) // batch_size)
    return Job(
        model=model.name,
        parameters=model.count_params(),
        train_samples=samples,
        validation_samples=validation.samples if validation else None,
        batch_size=batch_size,
        steps_per_epoch=steps,
        compiled_by="settings" if choices else "workload",
        optimizer=type(model.optimizer).__name__,
        loss=loss_text(model),
        choices=choices,
    )


def _epochs(watch: TrainingWatch, logs: Mapping[int, Mapping[str, float]]) -> tuple[Epoch, ...]:
    """Return the epochs, the last of which may be unfinished: its logs are then those of its last block."""
    numbers = sorted({block.epoch for block in watch.blocks})
    epochs = []
    for number in numbers:
        blocks = [block for block in watch.blocks if block.epoch == number]
        epochs.append(
            Epoch(
                epoch=number,
                logs=finite_logs(logs.get(number, blocks[-1].logs)),
                steps=sum(block.n_steps for block in blocks),
                train_ns=sum(block.duration_ns for block in blocks),
                validate_ns=watch.validation_ns.get(number),
            )
        )
    return tuple(epochs)


def _learning_rate(model: keras.Model) -> float | None:
    try:
        return float(model.optimizer.learning_rate)
    except (AttributeError, TypeError, ValueError):
        return None


def _source_of(module: Any) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file) if file else None
