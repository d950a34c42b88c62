"""One script from its first import to its end: what is measured, and the record of it as a whole."""

import contextlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import steptime
from steptime.errors import DeviceError
from steptime.plan.plan import Plan
from steptime.record.events import EventWriter
from steptime.record.schema import SCHEMA_VERSION, Outcome, RunRecord
from steptime.record.store import write_record
from steptime.worker.script import frames
from steptime.worker.script.imports import AfterImport, ImportWatch
from steptime.worker.script.offline import give_local_data
from steptime.worker.script.outcome import outcome_of_call, phases_of

if TYPE_CHECKING:
    from steptime.engine.observer import Observer
    from steptime.worker.proof import GraphRecorder
    from steptime.worker.script.call import FitCall
    from steptime.worker.script.measuring import Measuring

# Nothing heavier is imported here: numpy, TensorFlow and Keras come when the script imports them.


class Session:
    """What is known of a script while it runs.

    Args:
        folder: Its run folder.
        plan: Its plan.
        created: When it was planned.
        origin_ns: When its process was started, on the clock of ``perf_counter_ns``.
        source: Absolute path of the script's source.
    """

    def __init__(self, folder: Path, plan: Plan, created: str, origin_ns: int, source: Path) -> None:
        self.plan = plan
        self.events = EventWriter(folder)
        self._folder = folder
        self._created = created
        self._origin_ns = origin_ns
        self._begin_ns = time.perf_counter_ns()
        self.source = source
        self._owner = os.getpid()
        self._measuring: Measuring | None = None
        self._recorder: GraphRecorder | None = None
        self._graphs: tuple[Any, ...] = ()
        self._calls: list[RunRecord] = []
        self._busy = False
        self._unavailable: dict[str, str] = {}
        self.imports = ImportWatch(
            {
                "tensorflow": self._carefully(self._after_tensorflow),
                "keras": self._carefully(self._after_keras),
                "tf_keras": self._carefully(self._after_tf_keras),
            }
        )

    @property
    def is_own_process(self) -> bool:
        """Whether this is the process that was started for the script, and not one that it forked."""
        return os.getpid() == self._owner

    def say(self, text: str) -> None:
        """Tell the person something now."""
        self.events.write("note", text=text)

    def measure(
        self, model: Any, arguments: Any, train: "Callable[[Observer | None], Any]", *, inspect: bool
    ) -> Any:
        """Train, and leave a record of it; only the outermost call is measured, in the script's own process.

        Args:
            model: What is trained.
            arguments: Has the arguments of ``fit`` as attributes.
            train: Trains, tells the observer, and returns the History.
            inspect: Whether model and data are looked at for mistakes, which takes Keras 3.
        """
        if self._busy or self._measuring is None or not self.is_own_process:
            return train(None)
        self._busy = True
        try:
            call = self._begin(model, arguments, inspect=inspect)
            if call is None:
                return train(None)
            try:
                history = train(call.observer)
            except BaseException as error:
                self._end(call, None, error)
                raise
            self._end(call, getattr(history, "steptime", None), None)
            return history
        finally:
            self._busy = False

    def _begin(self, model: Any, arguments: Any, *, inspect: bool) -> "FitCall | None":
        from steptime.worker.script.call import begin_call
        from steptime.worker.script.measuring import default_device

        try:
            assert self._measuring is not None
            assert self._recorder is not None
            default_device()  # lets TensorFlow take its devices, if nothing has yet
            self._graphs += self._recorder.stop()
            inspection = self._measuring.inspection if inspect else None
            place = frames.place_in(self.source, sys._getframe())
            return begin_call(self._measuring, model, arguments, place, inspection)
        except Exception as error:  # noqa: BLE001 - measuring must not end a script's training
            self._could_not("calls", f"a call was not measured: {error!r}")
            return None

    def _end(self, call: "FitCall", execution: Any, error: BaseException | None) -> None:
        try:
            # An error has not come further up than here yet: where it arose may be in the script's own layers.
            inside = frames.place_of(error, self.source) if error is not None else None
            outcome = outcome_of_call(error, inside or call.call.place)
            self._calls.append(call.conclude(execution, outcome))
        except Exception as trouble:  # noqa: BLE001 - measuring must not end a script's training
            self._could_not("calls", f"a call left no record: {trouble!r}")
        if self._recorder is not None:
            self._recorder.start()

    def _could_not(self, what: str, reason: str) -> None:
        self._unavailable[what] = reason

    def _carefully(self, after: AfterImport) -> AfterImport:
        """Let nothing but a device that was asked for and is not there end the script's import."""

        def guarded(module: ModuleType) -> None:
            if not self.is_own_process:
                return
            try:
                after(module)
            except DeviceError:
                raise
            except Exception as error:  # noqa: BLE001 - measuring must not end a script
                self._could_not(module.__name__, f"it was not measured: {error!r}")
                self.say(f"{module.__name__} is neither measured nor accelerated: {error!r}")

        return guarded

    def _after_tensorflow(self, tensorflow: ModuleType) -> None:  # noqa: ARG002 - the functions below import it
        from steptime.worker.proof import GraphRecorder
        from steptime.worker.script.measuring import Measuring
        from steptime.worker.script.set_up import set_up, when_initialised

        set_up(self.plan)
        self._measuring = Measuring(self._folder, self.plan, self._created, self._origin_ns, self.source)
        self._recorder = GraphRecorder()
        when_initialised(self._recorder.start)

    def _after_keras(self, keras: ModuleType) -> None:
        from steptime.worker.script.keras3 import replace_methods

        give_local_data(keras, self.say)
        if keras.__version__.startswith("2"):
            self._after_tf_keras(keras)
            return
        backend = keras.backend.backend()
        if backend != "tensorflow":
            self.say(f"Keras runs on {backend}: only TensorFlow is measured and accelerated.")
            return
        if self.plan.settings.precision != "float32":
            keras.config.set_dtype_policy(self.plan.settings.precision)
        replace_methods(keras, self)

    def _after_tf_keras(self, keras: ModuleType) -> None:
        from steptime.worker.script.keras2 import replace_fit

        give_local_data(keras, self.say)
        self.say(
            f"Keras {keras.__version__} ({keras.__name__}) is measured, not accelerated: that takes Keras 3."
        )
        replace_fit(keras, self)

    def conclude(self, outcome: Outcome) -> None:
        """Write the record of the script as a whole; where that fails, the launcher writes what it knows."""
        try:
            self._write_record(outcome)
        except Exception as error:  # noqa: BLE001 - measuring must not change how a script ends
            with contextlib.suppress(OSError):
                self.say(f"the record could not be written: {error!r}")
        self.events.close()

    def _write_record(self, outcome: Outcome) -> None:
        now_ns = time.perf_counter_ns()
        import_ns = self.imports.import_ns
        facts: dict[str, Any] = {"plan": self.plan}
        if self._measuring is None:
            self._could_not("proof", "the script did not import TensorFlow")
        else:
            facts |= self._measured(self._measuring, now_ns)
        record = RunRecord(
            schema_version=SCHEMA_VERSION,
            steptime_version=steptime.__version__,
            run_id=self._folder.name,
            created=self._created,
            outcome=outcome,
            phases=phases_of(
                self._calls,
                start_ns=self._begin_ns - self._origin_ns,
                import_ns=import_ns,
                rest_ns=now_ns - self._begin_ns - import_ns,
            ),
            unavailable=self._unavailable,
            **facts,
        )
        write_record(self._folder, record)

    def _measured(self, measuring: "Measuring", now_ns: int) -> dict[str, Any]:
        from steptime.worker.script.whole import of_calls, proof_without_calls

        graphs = self._graphs + (self._recorder.stop() if self._recorder is not None else ())
        facts = measuring.conclude(now_ns)
        self._unavailable |= measuring.unavailable
        if self._calls:
            return facts | of_calls(self._calls, self._folder)
        proof, why_not = proof_without_calls(graphs)
        if why_not:
            self._could_not("proof", why_not)
        return facts | {"proof": proof}
