import argparse
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from steptime.cli.commands import doctor
from steptime.environment import read
from steptime.environment.facts import known
from steptime.environment.files import facts_text
from steptime.errors import RecordError, UsageError

FAULT = "Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0."


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    doctor.add_arguments(parser)
    return doctor.run(parser.parse_args(arguments))


def test_a_log_with_a_fault_gives_its_kind_and_ends_with_1(tmp_path, capsys):
    (tmp_path / "train.log").write_text(FAULT)
    assert run("--log", str(tmp_path / "train.log"), "--json") == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["kind"] == "cudnn-version-mismatch"


def test_a_log_without_a_fault_ends_with_0(tmp_path, capsys):
    (tmp_path / "train.log").write_text("Epoch 1/5\n1875/1875 - 4s - loss: 0.3\n")
    assert run("--log", str(tmp_path / "train.log")) == 0
    assert "No fault" in capsys.readouterr().out


def test_a_log_from_standard_input_with_facts(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", argparse.Namespace(buffer=io.BytesIO(b"Num GPUs Available: 0")))
    assert run("--log", "-", "--fact", "platform=Windows 11", "--fact", "tensorflow=2.18", "--json") == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["kind"] == "windows-native-no-gpu"


def test_saved_facts_give_the_same_diagnosis_elsewhere_and_no_personal_data(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("USER", "marie.planted")
    (tmp_path / "train.log").write_text(f"{FAULT}\nFile /home/marie.planted/x.py\n")
    saved = tmp_path / "facts.json"
    assert run("--log", str(tmp_path / "train.log"), "--save", str(saved), "--json") == 1
    first = json.loads(capsys.readouterr().out)
    assert "marie" not in saved.read_text()
    assert run("--facts", str(saved), "--json") == 1
    assert [f["kind"] for f in json.loads(capsys.readouterr().out)["findings"]] == [
        f["kind"] for f in first["findings"]
    ]


def test_a_live_finding_that_only_slows_down_leaves_0(monkeypatch, capsys):
    facts = known({"os": "linux", "gpu_vendor": "none", "cpu_quota": 2.0, "cpu_usable": 32}, "read here")
    monkeypatch.setattr(read, "read_first", lambda: facts)
    monkeypatch.setattr(read, "read_tensorflow", lambda first: first)
    assert run("--json") == 0
    assert json.loads(capsys.readouterr().out)["findings"][0]["kind"] == "cpu-quota-below-threads"


def test_a_live_fault_gives_1(monkeypatch, capsys):
    facts = known({"os": "linux", "tensorflow_state": "absent"}, "read here")
    monkeypatch.setattr(read, "read_first", lambda: facts)
    assert run() == 1
    assert "tensorflow-not-installed" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [("--log", "nowhere.log"), ("--fact", "linux"), ("--facts", "nowhere.json")]
)
def test_wrong_use_is_told(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        run(*arguments)
    assert caught.value.hint


def test_a_facts_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "facts.json").write_text("{}")
    with pytest.raises(RecordError):
        run("--facts", str(tmp_path / "facts.json"))


def test_neither_the_command_nor_the_first_facts_import_tensorflow_or_numpy():
    script = (
        "import sys, argparse; from steptime.cli.commands import doctor; from "
        "steptime.environment.read import read_first;"
        "from steptime.diagnosis.environment import diagnose; diagnose(read_first());"
        "print([m for m in ('tensorflow', 'keras', 'numpy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    assert done.stdout.strip() == "[]"


def test_what_differs_between_the_machines_of_a_training_is_found(tmp_path, capsys):
    files = [str(tmp_path / name) for name in ("a.json", "b.json")]
    for file, keras in zip(files, ("3.15.1", "3.14.0"), strict=True):
        Path(file).write_text(
            facts_text(known({"keras": keras, "python": "3.11.7"}, "read here")), encoding="utf-8"
        )
    assert run("--workers", *files, "--json") == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["kind"] == "workers-differ"
    assert "keras: 3.15.1" in finding["evidence"][0]
    Path(files[1]).write_text(
        facts_text(known({"keras": "3.15.1", "python": "3.11.7"}, "read here")), encoding="utf-8"
    )
    assert run("--workers", *files) == 0
    assert "No fault" in capsys.readouterr().out


@pytest.mark.parametrize("more", [[], ["--log", "x"], ["--fact", "a=b"], ["--save", "y"]])
def test_comparing_machines_takes_two_files_and_nothing_else(tmp_path, more):
    file = str(tmp_path / "a.json")
    Path(file).write_text(facts_text(known({}, "")), encoding="utf-8")
    with pytest.raises(UsageError, match="two machines or more"):
        run("--workers", file, *([f"{file}2"] if more else [file]), *more)
