"""The phases of a training run, in order: data, build, compile, train, save."""

import dataclasses
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import keras

from steptime.engine.fit import fit
from steptime.engine.request import FitRequest
from steptime.errors import RunError, UsageError
from steptime.plan.plan import Placement, Plan
from steptime.plan.settings import Settings
from steptime.record.events import EventWriter
from steptime.record.files import write_arrays
from steptime.record.schema import Job, Memory
from steptime.record.steps import summarise_blocks
from steptime.record.store import DEVICE_FILE, MODEL_FILE, STEPS_FILE
from steptime.worker import job as jobs
from steptime.worker.epochs import EpochEnd, epochs_of
from steptime.worker.job import Data
from steptime.worker.loading import guarded
from steptime.worker.machine import set_up, take_device
from steptime.worker.own_callbacks import own_callbacks
from steptime.worker.phases import PhaseClock
from steptime.worker.profiling import Profiling
from steptime.worker.proof import GraphRecorder, make_proof
from steptime.worker.sampling import DeviceWatch, open_devices
from steptime.worker.script_profile import callbacks_of, data_of, profile_first_fit, settings_of
from steptime.worker.signals import Stop, StopRequested, StopSignals
from steptime.worker.surroundings import describe_surroundings, peak_device_bytes, peak_process_bytes
from steptime.worker.tensorboard import Board
from steptime.worker.watch import XLA, TrainingWatch


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
        if workload.kind == "script":
            self._profile_script(Path(workload.target))
            return
        with self.clock.phase("data"):
            module = jobs.bring_in(workload)
            self.facts["environment"] = describe_surroundings(_source_of(module))
            data = jobs.load(module, workload, settings)
        with self.clock.phase("build"):
            model, output_shape = jobs.build(module, workload, data)
        with self.clock.phase("compile"):
            job = self._compile(model, module, data, output_shape)
            callbacks = own_callbacks(module, workload)
        if self.plan.protocol.profile:
            self._profile(model, data, job, callbacks, settings)
            return
        with self.signals.stopping(Stop.AFTER_THE_BLOCK):
            with self.clock.phase("train"):
                watch = self._train(model, data, job, callbacks)
            self._conclude(model, watch, device)
            with self.clock.phase("save"):
                self._save(model)

    def _take(self, placement: Placement) -> None:
        self.facts |= {"device": placement.device, "device_reason": placement.reason, "unavailable": {}}
        self.events.write("device", device=placement.device, reason=placement.reason)

    def _compile(self, model: keras.Model, module: ModuleType, data: Data, output_shape: Any) -> Job:
        """Compile the model, say what was chosen, and describe the job."""
        choices = jobs.compile_model(model, module, self.plan, data, output_shape)
        for words in choices or ():
            self.events.write("note", text=words)
        job = jobs.describe_job(model, data, self.plan.settings, choices)
        self.facts["job"] = job
        return job

    def _profile_script(self, script: Path) -> None:
        self.facts["environment"] = describe_surroundings(script)

        def profile(model: keras.Model, request: FitRequest) -> None:
            settings = settings_of(request, self.plan.settings)
            data = data_of(request)
            job = jobs.describe_job(model, data, settings, None)
            self.facts["job"] = job
            self._profile(model, data, job, callbacks_of(request), settings)

        profile_first_fit(script, profile)

    def _profile(
        self,
        model: keras.Model,
        data: Data,
        job: Job,
        callbacks: list[keras.callbacks.Callback],
        settings: Settings,
    ) -> None:
        """Take the job apart instead of training it to its end."""
        profiling = Profiling(
            folder=self.folder,
            settings=settings,
            device=str(self.facts["device"]),
            note=lambda text: self.events.write("note", text=text),
            is_stopped=lambda: self.signals.requested,
        )
        devices = self._device_watch()
        with self.signals.stopping(Stop.AFTER_THE_BLOCK), self.clock.phase("profile"):
            try:
                with devices:
                    guarded(
                        lambda: profiling.run(model, data.training, data.validation, callbacks, job),
                        "Profiling",
                    )
            finally:
                self.facts |= devices.conclude(self.folder / DEVICE_FILE, self.clock.origin_ns)

    def _train(
        self, model: keras.Model, data: Data, job: Job, callbacks: list[keras.callbacks.Callback]
    ) -> TrainingWatch:
        settings = self.plan.settings
        watch = TrainingWatch(
            events=self.events,
            recorder=GraphRecorder(),
            signals=self.signals,
            steps_per_epoch=job.steps_per_epoch,
            origin_ns=self.clock.origin_ns,
            batch_size=job.batch_size,
            # With steps_per_epoch a pass over the data does not end where an epoch does.
            samples=data.training.samples if settings.steps_per_epoch is None else None,
        )
        board = Board(self.folder / "tb", settings, self.plan.workload.name)
        devices = self._device_watch()
        epoch_end = EpochEnd(watch, board, devices)
        arguments = self._fit_arguments(data) | {"callbacks": [*callbacks, epoch_end], "observer": watch}
        watch.recorder.start()
        try:
            with devices:
                history = guarded(lambda: fit(model, **arguments), "Training")
            self.facts["execution"] = dataclasses.asdict(history.steptime)
        except StopRequested:
            pass  # What was trained until now is kept like any other result.
        finally:
            self.facts["epochs"] = epochs_of(watch, epoch_end.logs)
            self.facts |= devices.conclude(self.folder / DEVICE_FILE, self.clock.origin_ns)
            board.close()
        return watch

    def _device_watch(self) -> DeviceWatch:
        opened, not_opened = open_devices(str(self.facts["device"]))
        devices = DeviceWatch(opened, self.plan.protocol.sample_interval_s, self.folder / "tb" / "device")
        for field, reason in {**not_opened, **devices.missing()}.items():
            self._could_not(field, reason)
        return devices

    def _fit_arguments(self, data: Data) -> dict[str, Any]:
        settings = self.plan.settings
        arguments = data.training.fit_arguments()
        if data.training.stream is None:
            arguments |= {"batch_size": settings.batch_size, "shuffle": settings.shuffle}
        if data.validation is not None:
            arguments["validation_data"] = data.validation.validation_argument()
        elif settings.validation and settings.validation_split:
            arguments["validation_split"] = settings.validation_split
        return arguments | {
            "epochs": settings.epochs,
            "verbose": 0,
            "steps_per_epoch": settings.steps_per_epoch,
            "validation_freq": settings.validation_freq,
            "validation_batch_size": settings.validation_batch_size,
            "loop": settings.loop,
            "exact_kernels": {"auto": "auto", "on": True, "off": False}[settings.exact_kernels],
            "seed": settings.seed,
        }

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
        if why_not:
            self._could_not("memory.peak_device_bytes", why_not)
        if not watch.blocks:
            self._could_not("proof", "the run was stopped before its first step ended")
            return
        variables = [*model.variables, *getattr(model.optimizer, "variables", ())]
        loop = watch.main_loop()
        proof = make_proof(watch.graphs.get(loop, ()), variables, device, is_xla_program=loop == XLA)
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
            self._could_not("model_file", reason)
            self.events.write("note", text=reason)
            return
        self.facts["model_file"] = MODEL_FILE
        if self.plan.export:
            shutil.copyfile(path, self.plan.export)

    def _could_not(self, field: str, reason: str) -> None:
        known = self.facts.get("unavailable")
        self.facts["unavailable"] = {**(known if isinstance(known, dict) else {}), field: reason}


def _source_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file) if file else None
