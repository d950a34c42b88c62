"""The packaged MNIST."""

from pathlib import Path

import numpy as np
import pytest

from steptime.errors import UsageError
from steptime.workloads import mnist


def test_the_real_images_come_in_keras_form() -> None:
    (x_train, y_train), (x_test, y_test) = mnist.load_mnist()

    assert (x_train.shape, x_train.dtype) == ((60_000, 28, 28), np.uint8)
    assert (x_test.shape, y_test.shape) == ((10_000, 28, 28), (10_000,))
    assert np.bincount(y_train).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert (x_train.max(), y_test.max()) == (255, 9)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the package looks for its file in this test."""
    path = tmp_path / "data" / "mnist.npz"
    path.parent.mkdir()
    monkeypatch.setattr(mnist, "files", lambda package: tmp_path)
    return path


def test_an_altered_file_is_refused(archive: Path) -> None:
    names = ("x_train", "y_train", "x_test", "y_test")
    np.savez(archive, **{name: np.zeros((2, 2), "uint8") for name in names})

    with pytest.raises(UsageError, match=r"x_train in mnist\.npz must have SHA-256 741c988805d0") as caught:
        mnist.load_mnist()
    assert "install steptime again" in caught.value.hint


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 broken", b"\x80\x04."])
def test_a_missing_or_broken_file_is_refused(archive: Path, content: bytes | None) -> None:
    if content is not None:
        archive.write_bytes(content)

    with pytest.raises(UsageError, match=r"The packaged mnist\.npz must be readable"):
        mnist.load_mnist()


def test_the_licence_stands_beside_the_data() -> None:
    text = (Path(mnist.__file__).parent / "data" / "README.md").read_text(encoding="utf-8")

    assert "CC BY-SA 3.0" in text.replace("-", " ").replace("CC BY SA", "CC BY-SA")
    assert all(name in text for name in ("LeCun", "Cortes", "Burges"))
