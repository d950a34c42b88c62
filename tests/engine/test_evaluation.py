"""The batch size of a validation."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

pytestmark = pytest.mark.tensorflow

pytest.importorskip("keras")

from steptime.engine.evaluation import fitting_batch  # noqa: E402


@given(samples=st.integers(1, 100_000), batch=st.integers(1, 5_000))
def test_it_is_never_smaller_than_asked_nor_larger_than_four_times(samples, batch):
    size = fitting_batch(samples, batch)
    assert batch <= size <= 4 * batch


@given(parts=st.integers(1, 500), batch=st.integers(2, 250))
def test_it_divides_the_samples_where_a_divisor_is_near(parts, batch):
    samples = 2 * batch * parts
    assert samples % fitting_batch(samples, batch) == 0


def test_the_mnist_test_set_is_cut_in_equal_batches():
    assert fitting_batch(10_000, 32) == 125
