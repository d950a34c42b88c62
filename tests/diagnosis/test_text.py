import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.diagnosis.text import Text, compile_sign


def test_a_message_that_a_terminal_wrapped_in_the_middle_of_a_word_is_found_and_quoted():
    text = Text(["E cuda_driver.cc:268] failed call to cuInit: CUDA_ERR", "OR_NO_DEVICE: no device", "other"])
    span = text.find(r"failed call to cuinit: cuda_error_no_device")
    assert span == (0, 1)
    assert text.quote(span) == "E cuda_driver.cc:268] failed call to cuInit: CUDA_ERR OR_NO_DEVICE: no device"


@pytest.mark.parametrize("pattern", ["CUDA", "a.*b", "a.+b"])
def test_a_sign_that_could_never_match_or_would_run_over_the_whole_log_is_refused(pattern):
    with pytest.raises(ValueError, match="lower-case"):
        compile_sign(pattern)


def test_optional_blanks_in_a_sign_are_no_part_of_it():
    assert compile_sign("gpu ?(is)? {0,3}lost").pattern == "gpu(is)?lost"


def test_lines_can_be_taken_away():
    text = Text(["one", "two", "three"])
    assert text.without({1}).lines == ("one", "three")
    assert text.without(set()) is text


@given(st.integers(1, 60), st.lists(st.text(alphabet="abc xyz", max_size=30), max_size=5))
def test_wrapping_never_hides_a_message(width, around):
    message = "Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0"
    wrapped = [message[at : at + width] for at in range(0, len(message), width)]
    assert (
        Text([*around, *wrapped, *around]).find("loaded runtime cudnn library: 9.1.0 but source") is not None
    )


def test_a_match_covers_a_following_line_only_if_it_takes_half_of_it():
    text = Text(
        [
            "oneDNN custom operations are on. You may see",
            "slightly",
            "a real error that must not be taken away",
        ]
    )
    assert list(text.covered(r"onednn custom operations are on.{0,30}")) == [(0, 1)]


@pytest.mark.parametrize(
    "following",
    [
        " Could not load dynamic library libcusolver.so.11",
        "libcusolver.so.11: cannot open shared object file",
        "2024-01-01 10:00:00.000: E other.cc:1] no",
        "W0000 00:00:1 gpu_device.cc:2344] Cannot dlopen",
        "ImportError: libcublas.so.12: not found",
    ],
)
def test_a_wildcard_at_the_end_of_a_sign_does_not_take_in_the_next_message(following):
    text = Text(["skipping the delay kernel, accuracy is reduced", following])
    assert list(text.covered(r"skipping the delay kernel.{0,80}")) == [(0, 0)]


def test_words_of_a_sign_may_stand_in_a_line_that_looks_like_a_message():
    text = Text(
        ["W could not load dynamic library 'libnvinfer.so.7'; dlerror:", " libnvinfer.so.7: cannot open"]
    )
    assert list(
        text.covered(
            r"could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot.{0,9}"
        )
    ) == [(0, 1)]
