"""Tracebacks keep a script's frames, and lose ours."""

import sys
import traceback
from pathlib import Path

from steptime.units import seconds
from steptime.worker.script import frames


def ours() -> None:
    """Raises in a frame of steptime: the function takes numbers only."""
    seconds("no number")  # type: ignore[arg-type]


def error_of(call: object) -> BaseException:
    try:
        call()  # type: ignore[operator]
    except Exception as error:  # noqa: BLE001 - whatever it is
        return error
    raise AssertionError


def test_our_frames_go_and_the_others_stay_in_their_order() -> None:
    error = error_of(ours)
    before = [frame.name for frame in traceback.extract_tb(error.__traceback__)]

    frames.clean(error)

    after = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert after == ["error_of", "ours"]
    assert before[:2] == after
    assert len(before) > len(after)


def test_causes_and_contexts_are_cleaned_as_well_even_in_a_circle() -> None:
    cause, error = error_of(ours), ValueError("above")
    error.__cause__, cause.__context__ = cause, error

    frames.clean(error)

    assert [frame.name for frame in traceback.extract_tb(cause.__traceback__)] == ["error_of", "ours"]


def test_a_traceback_as_deep_as_python_allows_is_cleaned() -> None:
    def endless() -> None:
        endless()

    error = error_of(endless)

    frames.clean(error)

    assert len(traceback.extract_tb(error.__traceback__)) > 500


def test_a_place_is_the_innermost_line_of_the_script_or_of_a_file_beside_it() -> None:
    script = Path(__file__).with_name("train.py")

    place = frames.place_in(script, sys._getframe())

    assert place is not None
    assert place.startswith("test_frames.py, line ")
    error = frames.place_of(error_of(ours), script)
    assert error is not None
    assert error.startswith("test_frames.py, line ")


def test_code_from_elsewhere_has_no_place(tmp_path: Path) -> None:
    assert frames.place_in(tmp_path / "train.py", sys._getframe()) is None
    assert frames.place_of(error_of(ours), tmp_path / "train.py") is None
