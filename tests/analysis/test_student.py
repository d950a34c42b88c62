import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.analysis.student import t_cdf, t_quantile


@pytest.mark.parametrize(
    ("probability", "df", "expected"),
    [  # Abramowitz and Stegun, Handbook of Mathematical Functions, table 26.10
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 3, 3.182),
        (0.975, 4, 2.776),
        (0.975, 10, 2.228),
        (0.95, 5, 2.015),
        (0.995, 7, 3.499),
        (0.9995, 2, 31.598),
        (0.975, 120, 1.980),
        (0.975, 1e9, 1.960),
        (0.975, math.inf, 1.960),
    ],
)
def test_quantiles_agree_with_the_printed_table(probability, df, expected):
    assert t_quantile(probability, df) == pytest.approx(expected, abs=1.5e-3)


@given(st.floats(-50, 50), st.sampled_from([1.0, 2.0]))
def test_the_distribution_agrees_with_its_closed_forms(t, df):
    closed = 0.5 + math.atan(t) / math.pi if df == 1 else 0.5 + t / (2 * math.sqrt(2 + t * t))
    assert t_cdf(t, df) == pytest.approx(closed, abs=1e-8)


@given(st.floats(0.001, 0.999), st.floats(1, 200))
def test_the_quantile_inverts_the_distribution_and_is_symmetric(probability, df):
    quantile = t_quantile(probability, df)
    assert t_cdf(quantile, df) == pytest.approx(probability, abs=1e-8)
    assert t_quantile(1 - probability, df) == pytest.approx(-quantile, rel=1e-6, abs=1e-9)


@given(st.floats(1, 100), st.floats(1.001, 3))
def test_more_degrees_of_freedom_need_a_smaller_quantile(df, factor):
    assert t_quantile(0.975, df * factor) < t_quantile(0.975, df)
