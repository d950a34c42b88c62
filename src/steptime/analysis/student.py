"""Student's t distribution with any number of degrees of freedom, so that nothing but numpy is needed."""

import math
from statistics import NormalDist


def t_cdf(t: float, df: float) -> float:
    """Return the probability that Student's t with ``df`` degrees of freedom is at most ``t``.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.1 and 26.5.27: the two-sided tail is the
    regularised incomplete beta function I_x(df/2, 1/2) at x = df / (df + t^2).
    """
    tail = 0.5 * _incomplete_beta(df / (df + t * t), df / 2, 0.5)
    return 1.0 - tail if t > 0 else tail


def t_quantile(probability: float, df: float) -> float:
    """Return the value that Student's t with ``df`` degrees of freedom stays below with this probability.

    Newton's method from the normal quantile, which lies nearer to 0. Since the distribution is concave there,
    no step overshoots.

    Args:
        probability: Between 0 and 1, both excluded.
        df: Degrees of freedom, at least 1; infinity gives the normal distribution.
    """
    if probability < 0.5:
        return -t_quantile(1.0 - probability, df)
    quantile = NormalDist().inv_cdf(probability)
    # Far beyond any number of repeats the two agree, and the gamma functions below lose their digits.
    if df > 1e6 or probability == 0.5:
        return quantile
    log_scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    for _ in range(100):
        density = math.exp(log_scale - (df + 1) / 2 * math.log1p(quantile * quantile / df))
        step = (probability - t_cdf(quantile, df)) / density
        quantile += step
        if abs(step) < 1e-10 * quantile:
            break
    return quantile


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return I_x(a, b), by the continued fraction of Abramowitz and Stegun 26.5.8."""
    if x <= 0.0 or x >= 1.0:
        return min(1.0, max(0.0, x))
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1.0 - _incomplete_beta(1.0 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / a / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction 1 + d1/(1 + d2/(1 + ...)) by Lentz' method."""
    value = upper = 1.0
    lower = 0.0
    for step in range(1, 400):
        m = step // 2
        if step % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1.0 / (1.0 + d * lower)
        upper = 1.0 + d / upper
        value *= lower * upper
        if abs(lower * upper - 1.0) < 1e-15:
            break
    return value
