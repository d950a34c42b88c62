"""A model is built and counted in a child process, whatever becomes of that."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from steptime.environment.child import Answer
from steptime.errors import RunError, UsageError
from steptime.launch import model_size
from steptime.launch.model_size import ask_model_size
from steptime.plan.workload import parse_workload


def answering(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    def ask(module: str, arguments: Sequence[str], *, limit_s: float, environ: Mapping[str, str]) -> Answer:
        assert environ["CUDA_VISIBLE_DEVICES"] == "-1"
        return answer

    monkeypatch.setattr(model_size, "ask", ask)


def test_a_child_that_dies_is_an_error_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, Answer(state="crashed", body={}, said=b"first\nkilled by signal 9"))

    with pytest.raises(RunError, match=r"crashed \(killed by signal 9\)"):
        ask_model_size(parse_workload("mnist-cnn"))


@pytest.mark.parametrize(("code", "kind"), [(2, UsageError), (3, RunError)])
def test_what_the_child_found_wrong_is_raised_here(
    monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception]
) -> None:
    answering(
        monkeypatch,
        Answer(state="failed", body={"error": "It is.", "hint": "Do.", "exit_code": code}, said=b""),
    )

    with pytest.raises(kind, match="It is"):
        ask_model_size(parse_workload("mnist-cnn"))


@pytest.mark.tensorflow
def test_trainable_weights_are_counted_in_their_own_dtype_and_the_data_only_build_the_model(
    tmp_path: Path,
) -> None:
    file = tmp_path / "job.py"
    file.write_text(
        "import keras\nimport numpy as np\n"
        "print('chatter')\n"
        "def create_model():\n"
        "    frozen = keras.layers.Dense(3, trainable=False)\n"
        "    half = keras.layers.Dense(2, dtype='float16')\n"
        "    return keras.Sequential([keras.layers.Embedding(5, 4), keras.layers.Flatten(), frozen, half])\n"
        "def load_data():\n"
        "    return np.zeros((8, 2), 'int32'), np.zeros((8, 2), 'float32')\n"
    )
    size = ask_model_size(parse_workload(str(file)))

    assert size.embedding_bytes == 5 * 4 * 4
    assert size.gradient_bytes == 5 * 4 * 4 + (3 * 2 + 2) * 2
    assert size.parameters == 5 * 4 + (8 * 3 + 3) + (3 * 2 + 2)
    assert size.gradients == 3


@pytest.mark.tensorflow
def test_a_person_s_own_fault_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "job.py"
    file.write_text(
        "def create_model():\n    return 1 / 0\n\n\ndef load_data():\n    return None\n", encoding="utf-8"
    )

    with pytest.raises(RunError, match=r"ZeroDivisionError.*job.py"):
        ask_model_size(parse_workload(str(file)))
