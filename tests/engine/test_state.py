"""Comparing what a step changed."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

pytestmark = pytest.mark.tensorflow

tf = pytest.importorskip("tensorflow")

from steptime.engine import state  # noqa: E402


def test_values_written_back_are_what_was_read():
    variables = [tf.Variable([1.0, 2.0]), tf.Variable(3, dtype=tf.int64)]
    values = state.read(variables)
    variables[0].assign([5.0, 6.0])
    variables[1].assign(9)
    state.write(variables, values)
    assert variables[0].numpy().tolist() == [1.0, 2.0]
    assert variables[1].numpy() == 3
    assert state.size_bytes(variables) == 16


def test_an_update_that_is_off_by_itself_has_error_one():
    before, expected = [np.zeros(4, np.float32)], [np.full(4, 1e-3, np.float32)]
    assert state.update_errors(before, expected, [np.zeros(4, np.float32)]) == [pytest.approx(1.0)]


def test_rounding_of_a_large_value_is_not_an_error_of_its_small_update():
    before = [np.full(100, 1.0, np.float32)]
    expected = [before[0] + np.float32(1.2e-7)]
    assert state.update_errors(before, expected, before)[0] < 0.2


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0])),
        (np.array([1.0, 2.0]), np.array([1.0, np.inf])),
    ],
)
def test_other_integers_and_lost_numbers_are_infinitely_wrong(expected, got):
    assert state.update_errors([np.zeros_like(expected)], [expected], [got]) == [np.inf]


def test_equal_numbers_have_no_error_even_where_they_are_not_finite():
    value = np.array([np.nan, np.inf, 1.0])
    assert state.update_errors([np.zeros(3)], [value], [value.copy()]) == [0.0]


@given(st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=20), st.floats(1e-3, 10))
def test_the_error_does_not_depend_on_the_scale_of_the_learning_rate(values, scale):
    update = np.asarray(values, np.float64) + 1.0
    wrong = update * 1.5
    zeros = np.zeros_like(update)
    if np.sqrt(np.mean(update**2)) < 1e-6:
        return
    small = state.update_errors([zeros], [update * scale], [wrong * scale])
    assert small == [pytest.approx(0.5, rel=1e-6)]


def test_all_variables_together_weigh_a_small_one_little():
    before = [np.zeros(1000), np.zeros(1)]
    expected = [np.ones(1000), np.array([1.0])]
    got = [np.ones(1000), np.array([2.0])]
    assert state.update_errors(before, expected, got) == [0.0, pytest.approx(1.0)]
    assert state.overall_error(before, expected, got) < 0.04
