import shutil
import subprocess
import sys

import pytest

from steptime.environment import read
from steptime.environment.ask_driver import ask as ask_driver
from steptime.environment.child import Answer, ask
from steptime.environment.facts import known

SOURCE = (
    "int cuInit(unsigned f) { return CODE; } int cuDeviceGetCount(int *n) { *n = 0; return 0; } "
    "int cuDriverGetVersion(int *v) { *v = 12040; return 0; }"
)


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs Linux and a C compiler"
)
@pytest.mark.parametrize(
    ("code", "name"),
    [(0, "ok"), (34, "cuda_error_stub_library"), (100, "cuda_error_no_device"), (802, "cuda_error_system_not_ready"),
    (803, "cuda_error_system_driver_mismatch"),
     (804, "cuda_error_compat_not_supported_on_device"), (999, "cuda_error_unknown"), (77, "error 77")],
)  # fmt: skip
def test_each_error_code_of_the_driver_gets_its_name(tmp_path, code, name):
    (tmp_path / "cuda.c").write_text(SOURCE)
    library = tmp_path / "libcuda.so.1"
    subprocess.run(
        ["cc", "-shared", "-fPIC", f"-DCODE={code}", "-o", str(library), str(tmp_path / "cuda.c")], check=True
    )
    answer = ask(
        "steptime.environment.ask_driver",
        ["libm.so.6", "libnowhere.so.3"],
        limit_s=30,
        environ={"LD_LIBRARY_PATH": str(tmp_path)},
    )
    assert answer.body["cuinit"] == name
    assert answer.body["libcuda"] == "found"
    assert answer.body["libs_missing"] == ["libnowhere.so.3"]


def test_the_driver_is_asked_without_harm_where_there_is_none():
    assert ask_driver([]).keys() >= {"libcuda", "libs_missing"}


def test_the_first_facts_need_no_tensorflow(monkeypatch):
    monkeypatch.setattr(read, "ask", lambda *_, **__: Answer(state="timeout", body={}, said=b""))
    facts = read.read_first()
    assert facts.get("python")
    assert "timeout" in facts.unknown["cuinit"]


def test_a_crash_of_tensorflow_is_a_fact_and_its_last_words_are_kept(monkeypatch):
    monkeypatch.setattr(
        read, "ask", lambda *_, **__: Answer(state="crashed", body={}, said=b"Illegal instruction")
    )
    first = known(
        {"tensorflow_packages": ("tensorflow",), "tensorflow": "2.20.0", "local_shadow": "none"}, "read here"
    )
    facts = read.read_tensorflow(first)
    assert facts.get("tensorflow_state") == "crashed"
    assert "Illegal instruction" in facts.texts
    assert "crashed" in facts.unknown["tensorflow_gpus"]


def test_a_crash_in_the_proof_is_no_failed_import(monkeypatch):
    body = {"tensorflow_gpus": 1, "tensorflow_state": "ok"}
    monkeypatch.setattr(
        read, "ask", lambda *_, **__: Answer(state="crashed", body=body, said=b"LLVM ERROR: PTX version 8.5")
    )
    first = known({"tensorflow_packages": ("tensorflow",), "local_shadow": "none"}, "read here")
    facts = read.read_tensorflow(first)
    assert facts.get("tensorflow_state") == "ok"
    assert facts.get("tensorflow_gpus") == 1
    assert facts.get("proof") == "the calculation ended with: crashed"


def test_the_measured_rate_comes_with_the_data_sheets(monkeypatch):
    body = {"tensorflow_gpus": 1, "proof": "ok", "proof_matmul_tflops": 14.2, "tensorflow_state": "ok"}
    monkeypatch.setattr(read, "ask", lambda *_, **__: Answer(state="ok", body=body, said=b""))
    first = known(
        {"tensorflow_packages": ("tensorflow",), "local_shadow": "none", "gpu": ("Tesla V100-SXM2-16GB",)},
        "read here",
    )
    assert read.read_tensorflow(first).get("proof_peak_tflops") == 15.7


def test_tensorflow_is_not_asked_where_a_file_would_be_run_in_its_place(monkeypatch):
    monkeypatch.setattr(read, "ask", lambda *_, **__: pytest.fail("asked"))
    first = known(
        {"tensorflow_packages": ("tensorflow",), "tensorflow": "2.20.0", "local_shadow": "tensorflow.py"},
        "read here",
    )
    assert "tensorflow.py" in read.read_tensorflow(first).unknown["proof"]


def test_tensorflow_is_not_asked_where_there_is_none(monkeypatch):
    monkeypatch.setattr(read, "ask", lambda *_, **__: pytest.fail("asked"))
    first = known({"tensorflow_state": "absent", "tensorflow_packages": ()}, "read here")
    assert read.read_tensorflow(first) is first
