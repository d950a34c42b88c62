"""The phases of a training run, in order: data, build, compile, train, save."""

import contextlib
import dataclasses
import shutil
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import keras

from steptime.engine.fit import run_fit
from steptime.engine.inspection import gather
from steptime.engine.request import FitRequest
from steptime.engine.stop import StopRequested
from steptime.errors import RunError, UsageError
from steptime.plan.plan import Placement, Plan
from steptime.plan.script import SCRIPT
from steptime.plan.settings import Settings
from steptime.record.events import EventWriter
from steptime.record.files import replacing, write_arrays
from steptime.record.model_facts import write_model_facts
from steptime.record.schema import Job, Memory
from steptime.record.steps import summarise_blocks
from steptime.record.store import CHECKPOINTS_FOLDER, DEVICE_FILE, MODEL_FILE, STEPS_FILE
from steptime.worker import job as jobs
from steptime.worker.arguments import fit_arguments
from steptime.worker.checkpointing import checkpoints_of
from steptime.worker.epochs import EpochEnd
from steptime.worker.faults import FaultError, fault_of, iterations_of
from steptime.worker.group import Group, join, scaled_batch, scope_of
from steptime.worker.job import Data
from steptime.worker.loading import guarded
from steptime.worker.machine import set_up, take_device
from steptime.worker.own_callbacks import own_callbacks
from steptime.worker.phases import PhaseClock
from steptime.worker.profiling import Profiling
from steptime.worker.proof import GraphRecorder, make_proof, refuse_contradiction
from steptime.worker.sampling import DeviceWatch, open_devices
from steptime.worker.saving import save_model
from steptime.worker.script_profile import profile_first_fit
from steptime.worker.signals import Stop, StopSignals
from steptime.worker.splitting import split_data, split_updates, step_settings
from steptime.worker.surroundings import describe_surroundings, peak_device_bytes, peak_process_bytes
from steptime.worker.tensorboard import Board
from steptime.worker.watch import XLA, TrainingWatch, epochs_of


@dataclass(slots=True, kw_only=True)
class Training:
    """One training run; ``facts`` receives the fields of the record as they become known."""

    folder: Path
    plan: Plan
    clock: PhaseClock
    events: EventWriter
    signals: StopSignals
    facts: dict[str, object]
    group: Group = field(default_factory=Group)
    strategy: Any = None

    def run(self) -> None:
        """Go through the phases; what is known when one fails stays in ``facts``."""
        settings, workload = self.plan.settings, self.plan.workload
        if self.plan.placement is None:
            raise UsageError("The plan must hold a placement.", hint="Start runs with `steptime train`.")
        placement, device = take_device(settings.device, self.plan.placement)
        set_up(settings)
        self._take(placement)
        if workload.kind == SCRIPT:
            self.facts["environment"] = describe_surroundings(Path(workload.target))
            profile_first_fit(Path(workload.target), workload.arguments, settings, self._profile)
            return
        self.group, self.strategy = join(placement, device, self.folder.name, self.clock.phase)
        if self.strategy is not None:
            self.facts["group"] = dataclasses.asdict(self.group)
            self.group.tell(self.events)
        self._phases(device)

    def _phases(self, device: str) -> None:
        settings, workload = step_settings(self.plan), self.plan.workload
        with self.clock.phase("data"):
            module = jobs.bring_in(workload)
            self.facts["environment"] = describe_surroundings(_source_of(module))
            data = split_data(jobs.load(module, workload, settings), self.plan.split)
        with self.clock.phase("build"), scope_of(self.strategy):
            model, output_shape = jobs.build(module, workload, data)
        try:
            with self.clock.phase("compile"), scope_of(self.strategy):
                job = self._compile(model, module, data, output_shape)
                callbacks = own_callbacks(module, workload)
        finally:
            if model.compiled:  # also when the labels do not fit: the findings say more than the first fault
                self._inspect(model, data)
        if self.plan.protocol.check_only:
            return
        if self.plan.protocol.profile:
            self._profile(model, data, job, callbacks, settings)
            return
        with self.signals.stopping(Stop.AFTER_THE_BLOCK):
            with self.clock.phase("train"):
                watch, fault = self._train(model, data, job, callbacks)
            with contextlib.suppress(RunError) if fault else contextlib.nullcontext():
                self._conclude(model, watch, device)
            if self.group.rank == 0 and (fault is None or fault.keeps_model):
                with self.clock.phase("save"):
                    self._save(model)
            if fault is not None:
                if not fault.keeps_model:
                    self._could_not("model_file", "the weights are not those of a good step")
                raise fault

    def _take(self, placement: Placement) -> None:
        self.facts |= {"device": placement.device, "device_reason": placement.reason, "unavailable": {}}
        self.events.write("device", device=placement.device, reason=placement.reason)

    def _compile(self, model: keras.Model, module: ModuleType, data: Data, output_shape: Any) -> Job:
        """Compile the model, say what was chosen, and describe the job."""
        choices = jobs.compile_model(model, module, self.plan, data, output_shape)
        for words in (*(choices or ()), *split_updates(model, self.plan.split)):
            self.events.write("note", text=words)
        if self.plan.settings.scale_batch and self.group.replicas > 1:
            settings, words = scaled_batch(self.plan.settings, self.group.replicas, model, data.training)
            self.plan = dataclasses.replace(self.plan, settings=settings)
            self.events.write("note", text=words)
        job = jobs.describe_job(model, data, step_settings(self.plan), choices)
        self.facts["job"] = job
        return job

    def _inspect(self, model: keras.Model, data: Data) -> None:
        """Read the facts that the lints ask for; whoever started this run reads the file and applies them."""
        with self.clock.phase("inspect"):
            write_model_facts(
                self.folder, gather(model, FitRequest(**fit_arguments(data, step_settings(self.plan))))
            )
            self.events.write("inspected")

    def _profile(
        self,
        model: keras.Model,
        data: Data,
        job: Job,
        callbacks: list[keras.callbacks.Callback],
        settings: Settings,
    ) -> None:
        """Take the job apart instead of training it to its end."""
        self.facts["job"] = job
        profiling = Profiling(
            folder=self.folder,
            settings=settings,
            device=str(self.facts["device"]),
            note=self._note,
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
    ) -> tuple[TrainingWatch, FaultError | None]:
        """Train; what ended it before its time is returned, so that what was trained is kept first."""
        fault = None
        watch = self._watch(model, data, job)
        board = None
        if self.group.rank == 0:
            board = Board(self.folder / "tb", self.plan.settings, self.plan.workload.name, self._note)
        devices = self._device_watch()
        epoch_end = EpochEnd(watch, board, devices)
        checkpoints = checkpoints_of(
            self.plan,
            self.folder,
            is_validated=data.validation is not None,
            # The workers of a group stop together, at the end of a block; their checkpoints wait for an epoch's end.
            stop=watch.is_stop_requested if self.strategy is None else None,
            tell=self._note,
        )
        arguments = fit_arguments(data, step_settings(self.plan)) | {
            "callbacks": [*callbacks, epoch_end],
            "observer": watch,
            "checkpoint": checkpoints,
        }
        watch.recorder.start()
        try:
            with devices:
                history, fault = guarded(lambda: self._fit(model, arguments, watch), "Training")
            if history is not None:
                self.facts["execution"] = dataclasses.asdict(history.steptime)
        except StopRequested:
            # What was trained until now is kept like any other result.
            report = getattr(model.history, "steptime", None)
            if report is not None:
                self.facts["execution"] = dataclasses.asdict(report)
        finally:
            self.facts["epochs"] = epochs_of(watch, epoch_end.logs)
            self.facts |= devices.conclude(self.folder / DEVICE_FILE, watch.origin_ns)
            if board is not None:
                board.close()
        return watch, fault

    def _watch(self, model: keras.Model, data: Data, job: Job) -> TrainingWatch:
        watch = TrainingWatch(
            events=self.events,
            recorder=GraphRecorder(),
            signals=self.signals,
            steps_per_epoch=job.steps_per_epoch,
            origin_ns=self.clock.origin_ns,
            batch_size=job.batch_size,
            # With steps_per_epoch a pass over the data does not end where an epoch does.
            samples=data.training.samples if self.plan.settings.steps_per_epoch is None else None,
            iterations=lambda: iterations_of(model),
        )
        if self.group.workers > 1:
            # One that left at once would keep the others waiting: all stop after the same step.
            watch.stop_together = lambda: setattr(model, "stop_training", True)
        return watch

    def _fit(
        self, model: keras.Model, arguments: dict[str, Any], watch: TrainingWatch
    ) -> tuple[keras.callbacks.History | None, FaultError | None]:
        try:
            return run_fit(model, FitRequest(**arguments), check_override=True), None
        except Exception as error:
            fault = fault_of(
                error,
                watch.place(),
                model,
                watch.batch_size,
                str(self.facts["device"]),
                self.folder / CHECKPOINTS_FOLDER,
            )
            if fault is None:
                raise
            traceback.print_exc()
            return None, fault

    def _note(self, text: str) -> None:
        self.events.write("note", text=text)

    def _device_watch(self) -> DeviceWatch:
        opened, not_opened = open_devices(str(self.facts["device"]))
        devices = DeviceWatch(opened, self.plan.protocol.sample_interval_s, self.folder / "tb" / "device")
        for name, reason in {**not_opened, **devices.missing()}.items():
            self._could_not(name, reason)
        return devices

    def _conclude(self, model: keras.Model, watch: TrainingWatch, device: str) -> None:
        """Write the block times, and let the proof decide whether the numbers may stand."""
        columns = watch.arrays()
        write_arrays(self.folder / STEPS_FILE, columns)
        steps = summarise_blocks(columns)
        self.facts["steps"] = steps
        own = watch.blocks[watch.earlier :]
        self.clock.split(
            "train",
            {"warmup": own[0].duration_ns if own else 0, "validate": watch.own_validation_ns},
        )
        device_bytes, why_not = peak_device_bytes(device)
        self.facts["memory"] = Memory(peak_process_bytes=peak_process_bytes(), peak_device_bytes=device_bytes)
        if why_not:
            self._could_not("memory.peak_device_bytes", why_not)
        if not own:
            self._could_not("proof", "no step of the training was executed by this process")
            return
        variables = [*model.variables, *getattr(model.optimizer, "variables", ())]
        loop = watch.main_loop()
        planned = ", ".join(self.group.devices) or device
        proof = make_proof(watch.graphs.get(loop, ()), variables, planned, is_xla_program=loop == XLA)
        self.facts["proof"] = proof
        refuse_contradiction(proof, device)

    def _save(self, model: keras.Model) -> None:
        path = self.folder / MODEL_FILE
        reason = save_model(model, path)
        if reason is not None:
            self._could_not("model_file", reason)
            self._note(reason)
            return
        self.facts["model_file"] = MODEL_FILE
        if self.plan.export:
            with replacing(Path(self.plan.export)) as part:
                shutil.copyfile(path, part)

    def _could_not(self, field: str, reason: str) -> None:
        known = self.facts.get("unavailable")
        self.facts["unavailable"] = {**(known if isinstance(known, dict) else {}), field: reason}


def _source_of(module: ModuleType) -> Path | None:
    return Path(module.__file__) if module.__file__ else None
