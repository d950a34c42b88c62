"""Whatever ends a run, its record says so. No TensorFlow: the training is replaced."""

import errno
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from steptime.errors import DeviceError, RunError, UsageError
from steptime.record.schema import Outcome
from steptime.record.store import create_run_folder, read_record
from steptime.testing import make_plan
from steptime.worker.run import outcome_of, run
from steptime.worker.signals import Stop, StopSignals


class ResourceExhaustedError(Exception):
    """Named as TensorFlow names its own."""


@pytest.mark.parametrize(
    ("error", "status", "code", "reason"),
    [
        (UsageError("expected a", hint="b"), "failed", 2, "expected a"),
        (DeviceError("expected a", hint="b"), "failed", 2, "expected a"),
        (RunError("it broke", hint="b"), "failed", 3, "it broke"),
        (KeyboardInterrupt(), "interrupted", 130, "stopped by a signal"),
        (
            OSError(errno.ENOSPC, "No space left"),
            "failed",
            2,
            "The disk must have free space. [Errno 28] No space left",
        ),
        (MemoryError(), "failed", 3, "out of memory: "),
        (ResourceExhaustedError("OOM when\n allocating"), "failed", 3, "out of memory: OOM when allocating"),
        (ImportError("libcudart.so\nmissing"), "failed", 3, "ImportError: libcudart.so missing"),
    ],
)
def test_each_end_has_status_exit_code_and_reason(
    error: BaseException, status: str, code: int, reason: str
) -> None:
    outcome = outcome_of(error, "data")

    assert (outcome.status, outcome.exit_code, outcome.reason, outcome.phase) == (
        status,
        code,
        reason,
        "data",
    )
    assert outcome.hint or status == "interrupted"


Execute = Callable[[Any], None]


@pytest.fixture
def execute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Execute], tuple[int, Path]]:
    """Runs the worker's frame around a training that a test makes up."""

    def execute(body: Execute) -> tuple[int, Path]:
        class Training:
            """Takes what the real one takes."""

            def __init__(self, **given: Any) -> None:
                self.given = given

            def run(self) -> None:
                body(self.given)

        module = ModuleType("steptime.worker.training")
        module.Training = Training  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "steptime.worker.training", module)
        folder = create_run_folder(tmp_path, "train", make_plan())
        return run(folder), folder

    return execute


def test_a_run_that_ends_well_is_ok(execute: Any) -> None:
    def body(given: Any) -> None:
        given["facts"]["device"] = "cpu"
        with given["clock"].phase("save"):
            pass

    code, folder = execute(body)
    record = read_record(folder)

    assert (code, record.outcome, record.device) == (0, Outcome(status="ok", phase="save"), "cpu")
    assert [phase.name for phase in record.phases] == ["import", "save"]


def test_a_failure_keeps_the_facts_so_far_and_names_its_phase(execute: Any) -> None:
    def body(given: Any) -> None:
        given["facts"]["device"] = "cpu"
        with given["clock"].phase("build"):
            raise LookupError("why")

    code, folder = execute(body)
    record = read_record(folder)

    assert (code, record.device) == (3, "cpu")
    assert (record.outcome.phase, record.outcome.reason) == ("build", "LookupError: why")


def test_a_signal_during_training_ends_as_interrupted_and_the_signals_are_given_back(execute: Any) -> None:
    before = signal.getsignal(signal.SIGINT)

    def body(given: Any) -> None:
        with given["signals"].stopping(Stop.AFTER_THE_BLOCK):
            os.kill(os.getpid(), signal.SIGINT)

    code, folder = execute(body)

    assert (code, read_record(folder).outcome.status) == (130, "interrupted")
    assert signal.getsignal(signal.SIGINT) is before


def test_signals_while_the_record_is_written_do_not_cost_the_record(
    execute: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from steptime.worker import run as module

    write = module.write_record

    def interrupted(folder: Path, record: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        write(folder, record)

    monkeypatch.setattr(module, "write_record", interrupted)
    code, folder = execute(lambda given: None)

    assert (code, read_record(folder).outcome.status) == (0, "ok")


def test_the_kind_of_stop_says_what_a_signal_does() -> None:
    from steptime.worker.signals import StopRequested

    def send(stop: Stop) -> StopSignals:
        signals = StopSignals()
        with signals.listening(), signals.stopping(stop):
            os.kill(os.getpid(), signal.SIGTERM)
        return signals

    with pytest.raises(KeyboardInterrupt):
        send(Stop.AT_ONCE)
    with pytest.raises(StopRequested):
        send(Stop.AT_ONCE_KEEPING)
    assert send(Stop.AFTER_THE_BLOCK).requested
    assert send(Stop.NEVER).requested


def test_one_request_that_arrives_by_two_ways_is_one() -> None:
    signals = StopSignals(together_s=60.0)
    with signals.listening(), signals.stopping(Stop.AFTER_THE_BLOCK):
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGINT)
    assert signals.requested


def test_a_second_signal_interrupts_at_once() -> None:
    signals = StopSignals(together_s=0.0)
    with signals.listening(), signals.stopping(Stop.AFTER_THE_BLOCK):
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
