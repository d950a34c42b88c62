"""How an end of a script is recorded."""

import pytest

from steptime.errors import UsageError
from steptime.record.schema import Phase
from steptime.testing import make_record
from steptime.worker.script.outcome import exit_code_of, outcome_of_call, outcome_of_script, phases_of


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (None, "ok", 0),
        (SystemExit(), "ok", 0),
        (SystemExit(3), "failed", 3),
        (SystemExit("bad end"), "failed", 1),
        (KeyboardInterrupt(), "interrupted", 130),
        (ValueError("boom"), "failed", 1),
        (UsageError("asked", hint="do"), "failed", 2),
    ],
)
def test_status_and_exit_code_are_those_of_python(
    error: BaseException | None, status: str, code: int
) -> None:
    outcome = outcome_of_script(error, None)

    assert (outcome.status, outcome.exit_code) == (status, code)
    assert (outcome.reason is None) == (status == "ok")


def test_the_reason_names_the_line_and_the_traceback_is_kept() -> None:
    try:
        raise ValueError("boom\n\n\x1b[1mand more\x1b[0m\nand much more")
    except ValueError as error:
        outcome = outcome_of_script(error, "train.py, line 3")

    assert outcome.reason == "ValueError: boom and more (train.py, line 3)"
    assert outcome.log_tail[0] == "Traceback (most recent call last):"


def test_what_tensorflow_says_at_the_end_of_its_text_is_the_reason() -> None:
    text = "Graph execution error:\n\nDetected at node dense/MatMul defined at (most recent call last):\n  File a.py\n"
    error = RuntimeError(
        f"{text}\nMatrix size-incompatible\n\t [[{{{{node dense/MatMul}}}}]] [Op:__inference]"
    )

    assert outcome_of_call(error, None).reason == "RuntimeError: Matrix size-incompatible"


def test_a_call_ends_as_its_error_says() -> None:
    assert outcome_of_call(None, None).status == "ok"
    assert outcome_of_call(KeyboardInterrupt(), None).status == "interrupted"
    assert outcome_of_call(ValueError("boom"), "a.py, line 1").reason == "ValueError: boom (a.py, line 1)"


def test_exit_codes_are_bytes() -> None:
    assert exit_code_of(SystemExit(256 + 7)) == 7


def test_the_time_of_the_calls_is_taken_out_of_the_scripts_own() -> None:
    call = make_record(phases=(Phase(name="warmup", duration_ns=10), Phase(name="train", duration_ns=50)))

    phases = {phase.name: phase.duration_ns for phase in phases_of([call, call], 5, 7, 200)}

    assert phases == {"start": 5, "import": 7, "script": 80, "warmup": 20, "train": 100}
