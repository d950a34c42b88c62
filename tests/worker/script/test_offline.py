"""Data sets without a network: only where the download fails, and never without a word."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from steptime.errors import UsageError
from steptime.worker.script.offline import FASHION_VARIABLE, give_local_data


def fake_keras(monkeypatch: pytest.MonkeyPatch, answer: Any) -> ModuleType:
    """A package whose data sets answer each download with ``answer``: an error to raise, or a path."""

    def get_file(fname: str, origin: str) -> str:
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    for name in ("mnist", "fashion_mnist"):
        module = ModuleType(name)
        module.get_file = get_file  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, f"some_keras.src.datasets.{name}", module)
    return ModuleType("some_keras")


def get(name: str, fname: str) -> str:
    path: str = sys.modules[f"some_keras.src.datasets.{name}"].get_file(fname=fname, origin="somewhere")
    return path


FAILURE = Exception("URL fetch failure on somewhere: None -- no such host")


def test_what_keras_has_or_can_download_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    give_local_data(fake_keras(monkeypatch, "cache/mnist.npz"), said.append)

    assert get("mnist", "mnist.npz") == "cache/mnist.npz"
    assert said == []


@pytest.mark.parametrize("failure", [FAILURE, TimeoutError("too long")])
def test_mnist_that_cannot_be_downloaded_is_the_packaged_one_and_a_line_says_so(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    said: list[str] = []
    give_local_data(fake_keras(monkeypatch, failure), said.append)

    with np.load(get("mnist", "mnist.npz"), allow_pickle=False) as arrays:
        assert arrays["x_train"].shape == (60_000, 28, 28)
    assert len(said) == 1
    assert "comes with steptime" in said[0]


def test_another_error_is_the_scripts_own(monkeypatch: pytest.MonkeyPatch) -> None:
    give_local_data(fake_keras(monkeypatch, ValueError("corrupted file")), lambda text: None)

    with pytest.raises(ValueError, match="corrupted"):
        get("mnist", "mnist.npz")


def test_fashion_mnist_comes_from_the_folder_that_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[str] = []
    give_local_data(fake_keras(monkeypatch, FAILURE), said.append)
    labels = tmp_path / "train-labels-idx1-ubyte.gz"
    labels.touch()
    monkeypatch.setenv(FASHION_VARIABLE, str(tmp_path))

    assert get("fashion_mnist", labels.name) == str(labels)
    assert len(said) == 1
    with pytest.raises(UsageError, match="t10k-images"):
        get("fashion_mnist", "t10k-images-idx3-ubyte.gz")


def test_without_a_folder_fashion_mnist_fails_as_it_would_and_a_line_says_what_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    give_local_data(fake_keras(monkeypatch, FAILURE), said.append)
    monkeypatch.delenv(FASHION_VARIABLE, raising=False)

    with pytest.raises(Exception, match="URL fetch failure"):
        get("fashion_mnist", "train-labels-idx1-ubyte.gz")
    assert FASHION_VARIABLE in said[0]
