"""One ``fit`` call of a script: watched while it goes on, and a record of its own afterwards."""

import contextlib
import dataclasses
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensorflow.python.eager import context as tf_context

import steptime
from steptime.errors import UsageError
from steptime.plan.plan import Plan
from steptime.record.events import EventWriter
from steptime.record.files import write_arrays
from steptime.record.schema import (
    SCHEMA_VERSION,
    Call,
    Job,
    Memory,
    Outcome,
    Phase,
    Proof,
    RunRecord,
    StepTimes,
)
from steptime.record.steps import summarise_blocks
from steptime.record.store import DEVICE_FILE, STEPS_FILE, create_call_folder, write_record
from steptime.worker.losses import loss_text
from steptime.worker.proof import GraphRecorder, make_proof, short_device
from steptime.worker.script.inputs import Inputs, describe_inputs
from steptime.worker.script.inspection import Inspection
from steptime.worker.script.measuring import Measuring, default_device
from steptime.worker.script.observer import CarefulWatch
from steptime.worker.signals import StopSignals
from steptime.worker.surroundings import peak_device_bytes, peak_process_bytes
from steptime.worker.watch import XLA, TrainingWatch, epochs_of


@dataclass(slots=True, kw_only=True)
class FitCall:
    """One call.

    Attributes:
        measuring: What all calls of the script share.
        folder: Its run folder.
        plan: The script's plan with what this call asks for.
        call: Which one it is.
        model: The model that is trained.
        inputs: What is known of its data.
        arguments: Has the arguments of ``fit`` as attributes.
        inspection: Looks at model and data before and after the call; None where nothing can.
        model_facts: What it saw before.
        planned_device: Where an operation runs here that names no device, such as ``GPU:0``.
    """

    measuring: Measuring
    folder: Path
    plan: Plan
    call: Call
    model: Any
    inputs: Inputs
    planned_device: str
    events: EventWriter
    watch: TrainingWatch
    observer: CarefulWatch
    arguments: Any
    inspection: Inspection | None
    model_facts: Any
    begin_ns: int = field(default_factory=time.perf_counter_ns)

    def conclude(self, execution: Any, outcome: Outcome) -> RunRecord:
        """Write what the call left behind, and return its record.

        Args:
            execution: The engine's report; None when there is none.
            outcome: How it ended.
        """
        end_ns = time.perf_counter_ns()
        if self.inspection is not None:
            self.inspection.after(self.model_facts, self.model, self.arguments, self.folder)
        with contextlib.closing(self.events):
            columns = self.watch.arrays()
            write_arrays(self.folder / STEPS_FILE, columns)
            steps = summarise_blocks(columns)
            series, uses = self.measuring.devices_between(self.begin_ns, end_ns)
            write_arrays(self.folder / DEVICE_FILE, series)
            device_bytes, why_not = peak_device_bytes(self.planned_device)
            device, reason = self.measuring.place()
            proof = self._proof()
            record = RunRecord(
                schema_version=SCHEMA_VERSION,
                steptime_version=steptime.__version__,
                run_id=self.folder.name,
                created=self.measuring.created,
                plan=self.plan,
                outcome=outcome,
                device=device,
                device_reason=reason,
                environment=self.measuring.environment(),
                job=self._job() if self.model.built else None,
                phases=self._phases(end_ns, steps),
                epochs=epochs_of(self.watch, _history(self.model)),
                steps=steps,
                memory=Memory(peak_process_bytes=peak_process_bytes(), peak_device_bytes=device_bytes),
                devices=uses,
                proof=proof,
                execution=None if execution is None else dataclasses.asdict(execution),
                unavailable=self._unavailable(why_not, proof),
                call=self.call,
            )
            write_record(self.folder, record)
        return record

    def _unavailable(self, why_no_device_memory: str | None, proof: Proof | None) -> dict[str, str]:
        why_no_proof = "the call ended before its first step did"
        if self.watch.blocks:
            why_no_proof = "TensorFlow kept no graph of its steps, such as when they run eagerly"
        reasons = {
            "memory.peak_device_bytes": why_no_device_memory,
            "job": None if self.model.built else "the model was not built",
            "steps": self.observer.problem,
            "proof": None if proof is not None else why_no_proof,
            "model_facts": self.inspection.problem if self.inspection is not None else None,
            "model_file": "a script saves its model itself",
        }
        return {**self.measuring.unavailable, **{key: why for key, why in reasons.items() if why}}

    def _phases(self, end_ns: int, steps: StepTimes) -> tuple[Phase, ...]:
        warmup_ns, validate_ns = steps.first_block_ns or 0, sum(self.watch.validation_ns.values())
        train_ns = end_ns - self.begin_ns - warmup_ns - validate_ns
        parts = {"warmup": warmup_ns, "validate": validate_ns, "train": max(train_ns, 0)}
        return tuple(Phase(name=name, duration_ns=duration) for name, duration in parts.items() if duration)

    def _proof(self) -> Proof | None:
        if not self.watch.blocks:
            return None
        loop = self.watch.main_loop()
        graphs = self.measuring.with_earlier_graphs(
            self.model, loop, self.planned_device, self.watch.graphs.get(loop, ())
        )
        if not graphs and loop != XLA:
            return None
        variables = [*self.model.variables, *_values(getattr(self.model.optimizer, "variables", ()))]
        proof = make_proof(graphs, variables, self.planned_device, is_xla_program=loop == XLA)
        strategy = getattr(self.model, "distribute_strategy", None)
        if strategy is not None and strategy.num_replicas_in_sync > 1:
            return dataclasses.replace(proof, contradiction=None)  # several devices are its purpose
        return proof

    def _job(self) -> Job:
        inputs = self.inputs
        return Job(
            model=self.model.name,
            parameters=int(self.model.count_params()),
            train_samples=inputs.samples,
            validation_samples=inputs.validation_samples,
            batch_size=inputs.batch_size,
            steps_per_epoch=inputs.steps_per_epoch,
            compiled_by="script",
            optimizer=type(self.model.optimizer).__name__,
            loss=loss_text(self.model),
        )


def begin_call(
    measuring: Measuring, model: Any, arguments: Any, place: str | None, inspection: Any
) -> FitCall:
    """Begin to watch a call; the graphs of its first steps are kept for its proof.

    Args:
        measuring: What all calls of the script share.
        model: A model of Keras 2 or 3.
        arguments: Has the arguments of ``fit`` as attributes.
        place: Line of the script that called it.
        inspection: Looks at model and data before and after the call; None where nothing can.
    """
    number = measuring.next_number()
    model_facts = inspection.before(model, arguments) if inspection is not None else None
    inputs = describe_inputs(arguments)
    call = Call(number=number, place=place, device_scope=_device_scope())
    plan = _plan_of(measuring.plan, arguments, inputs)
    folder = create_call_folder(measuring.folder, number, plan, measuring.created)
    events = EventWriter(folder)
    events.write("phase", name="train", words="training")
    recorder = GraphRecorder()
    watch = TrainingWatch(
        events=events,
        recorder=recorder,
        signals=StopSignals(),
        steps_per_epoch=inputs.steps_per_epoch,
        origin_ns=measuring.origin_ns,
        batch_size=inputs.batch_size,
        # With steps_per_epoch a pass over the data does not end where an epoch does.
        samples=inputs.samples if arguments.steps_per_epoch is None else None,
    )
    planned_device = default_device()
    recorder.start()
    return FitCall(
        measuring=measuring,
        folder=folder,
        plan=plan,
        call=call,
        model=model,
        inputs=inputs,
        planned_device=planned_device,
        events=events,
        watch=watch,
        observer=CarefulWatch(watch),
        arguments=arguments,
        inspection=inspection,
        model_facts=model_facts,
    )


def _device_scope() -> str | None:
    name = tf_context.context().device_name
    return short_device(name) if name else None


def _plan_of(plan: Plan, arguments: Any, inputs: Inputs) -> Plan:
    """Return the script's plan with the settings that the call itself names, where they lie within their limits."""
    asked = {
        "epochs": arguments.epochs,
        "batch_size": inputs.batch_size,
        "steps_per_epoch": arguments.steps_per_epoch,
        "validation_split": float(arguments.validation_split or 0.0),
        "validation_batch_size": arguments.validation_batch_size,
        "shuffle": bool(arguments.shuffle),
        "validation": bool(arguments.validation_data is not None or arguments.validation_split),
    }
    settings = plan.settings
    for key, value in asked.items():
        if value is not None:
            with contextlib.suppress(UsageError):  # Keras has its own opinion of it, and says it
                settings = dataclasses.replace(settings, **{key: value})
    return dataclasses.replace(plan, settings=settings)


def _history(model: Any) -> dict[int, dict[str, float]]:
    """Return the logs of each epoch that ended, from the model's History."""
    history = getattr(model, "history", None)
    if history is None or not hasattr(history, "epoch"):
        return {}
    # A metric that came late, such as one of a rare validation, belongs to the last epochs.
    logs: dict[int, dict[str, float]] = {epoch: {} for epoch in history.epoch}
    for name, values in history.history.items():
        if len(values) == len(history.epoch):
            for epoch, value in zip(history.epoch, values, strict=True):
                with contextlib.suppress(TypeError, ValueError):  # a custom step may log anything
                    logs[epoch][name] = float(value)
    return logs


def _values(variables: Any) -> Any:
    # Keras 2 gives the variables of an optimizer by a call.
    return variables() if callable(variables) else variables
