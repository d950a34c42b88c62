import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.environment.log import WHOLE_BYTES, read_log

ERROR = b"E cuda_dnn.cc:522] Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0."


def test_line_ends_of_windows_and_progress_bars_separate_lines():
    assert read_log(b"one\r\ntwo\rthree\n\n") == ("one", "two", "three")


def test_colours_are_removed():
    assert read_log(b"\x1b[1;31merror: x\x1b[0m\x1b]0;title\x07") == ("error: x",)


@pytest.mark.parametrize(
    "prefix",
    [
        b"trainer-1  | ",
        b"2026-01-02T03:04:05.678Z stderr F ",
        b"[1,0]<stderr>:",
        b"[pod/train-0/main] ",
        b"(RayTrainWorker pid=4242) ",
    ],
)
def test_what_containers_and_launchers_put_before_a_line_is_removed(prefix):
    assert read_log(prefix + ERROR) == (ERROR.decode(),)


def test_a_table_of_nvidia_smi_keeps_its_bars():
    assert read_log(b"| NVIDIA-SMI 555.99   Driver Version: 555.99 |")[0].startswith("| NVIDIA-SMI")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_other_encodings_are_recognised(encoding):
    assert ERROR.decode() in read_log(ERROR.decode().encode(encoding))


def test_a_repeated_line_is_kept_once_and_lines_alike_three_times():
    log = b"".join(b"step %d loss 0.5\n" % step for step in range(1000)) + b"end\nend\n"
    assert read_log(log) == ("step 0 loss 0.5", "step 1 loss 0.5", "step 2 loss 0.5", "end")


def test_an_error_in_the_middle_of_a_long_log_is_found():
    filler = b"".join(b"%s quiet line\n" % bytes([97 + i % 26]) * 40 for i in range(WHOLE_BYTES // 100))
    assert len(filler) > 2 * WHOLE_BYTES
    assert any(ERROR.decode() in line for line in read_log(filler + b"\n" + ERROR + b"\n" + filler))


def test_a_huge_log_becomes_a_small_one():
    assert sum(map(len, read_log(bytes(range(1, 256)) * 40_000))) < 2 * WHOLE_BYTES


def test_lines_of_rubbish_are_dropped():
    assert read_log(b"\x80\x81\x82\x83" * 20 + b"\nreal line\n") == ("real line",)


@given(st.binary(max_size=3000))
def test_any_bytes_can_be_read(raw):
    assert all(line.strip() for line in read_log(raw))
