"""Sound models of the benchmark: no false error, and looking is quick."""

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow

pytest.importorskip("keras")

FILE = Path(__file__).parents[3] / "benchmarks" / "lint_sound_models.py"
CHEAP = ["MobileNet", "text", "table", "autoencoder", "two-heads", "mnist-cnn", "my_job"]


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("lint_sound_models", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", CHEAP)
def test_a_sound_model_has_no_error(benchmark, name):
    (row,) = benchmark.rows([name])
    assert "error" not in row["findings"].values(), row
    assert not [why for why in row["unchecked"].values() if "could not be read" in why], row


def test_the_benchmark_holds_fifteen_models_and_more(benchmark):
    assert len(benchmark.NAMES) >= 15
    assert set(CHEAP) <= set(benchmark.NAMES)
