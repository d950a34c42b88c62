"""Renders a comparison's quantities as CSV: one row for each arm and quantity, plain numbers in base units."""

import csv
import io
from collections.abc import Iterator

from steptime.analysis.comparison import ArmFacts, Comparison

COLUMNS = (
    "arm", "repeats", "verdict", "quantity", "value", "low", "high", "confidence", "ratio", "ratio_low", "ratio_high",
    "reason",
)  # fmt: skip
_Cell = str | float | None


def render_csv(comparison: Comparison) -> str:
    """Return the table; an unknown value is an empty cell, and its reason stands in the last column."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for facts in comparison.arms:
        verdict = facts.verdict.kind if facts.verdict else "baseline"
        for row in _rows(facts, comparison.confidence):
            writer.writerow([_harmless(facts.arm.name), facts.repeats, verdict, *row])
    return buffer.getvalue()


def _rows(facts: ArmFacts, confidence: float) -> Iterator[tuple[_Cell, ...]]:
    for key, estimate in facts.quantities.items():
        value, ratio = estimate.value, estimate.ratio
        numbers = (value.value, value.low, value.high, value.confidence) if value else (None,) * 4
        ratios = (ratio.value, ratio.low, ratio.high) if ratio else (None,) * 3
        yield key, *numbers, *ratios, estimate.reason
    for key, metric in facts.metrics.items():
        mean, reach = metric.value, metric.reach
        ends = (mean - reach, mean + reach) if mean is not None and reach is not None else (None, None)
        reason = "not a number" if mean is None else None
        yield f"final.{key}", mean, *ends, confidence, None, None, None, reason
    if facts.failure and not facts.repeats:
        yield None, *(None,) * 7, facts.failure


def _harmless(text: str) -> str:
    """Keep a spreadsheet from taking a name for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" else text
