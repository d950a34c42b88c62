"""The pictures of a comparison, as data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from steptime import units
from steptime.analysis.comparison import ArmFacts, Comparison
from steptime.analysis.quantities import step_times
from steptime.analysis.target import parse_target
from steptime.record.stored import StoredRun
from steptime.report.document import Bars, Chart, Curves, Series, Stacks
from steptime.report.pages.verdict import is_wide

Runs = Mapping[str, Sequence[StoredRun]]
Array = npt.NDArray[np.float64]

# A line of more points than a chart has dots shows nothing more and makes the page heavy.
_POINTS = 120
_X_TRAINING = "seconds since the process was started"
_SENSORS = (
    ("utilisation_share", 100.0, "utilisation", "busy share of the device in %", True),
    ("memory_used_bytes", 1 / 2**20, "memory", "memory in use in MiB", True),
    ("power_w", 1.0, "power", "power in W", True),
    ("temperature_c", 1.0, "temperature", "temperature in °C", False),
)


def epoch_chart(comparison: Comparison) -> Iterator[Chart]:
    """Return bars of the time per epoch."""
    known = [
        (number, facts.arm.name, estimate.value)
        for number, facts in enumerate(comparison.arms)
        if (estimate := facts.quantities.get("epoch_s")) and estimate.value
    ]
    if not known:
        return
    yield Chart(
        name="time-per-epoch",
        title="Time per epoch",
        text="The training steps of an epoch at steady state, stalls included. Shorter is faster; the line is the "
        "95 % interval.",
        plot=Bars(
            labels=tuple(name for _, name, _ in known),
            colours=tuple(number for number, _, _ in known),
            values=tuple(value.value for _, _, value in known),
            lows=tuple(value.value if is_wide(value) else value.low for _, _, value in known),
            highs=tuple(value.value if is_wide(value) else value.high for _, _, value in known),
            texts=tuple(units.seconds(value.value) for _, _, value in known),
            x_title="seconds per epoch",
        ),
    )


def parts_chart(comparison: Comparison) -> Iterator[Chart]:
    """Return bars of where the time of a run went."""
    arms = [facts for facts in comparison.arms if facts.parts_s]
    if not arms:
        return
    parts = dict.fromkeys(part for facts in arms for part, seconds in facts.parts_s.items() if seconds > 0)
    yield Chart(
        name="where-the-time-went",
        title="Where the time went",
        text="From the start of the process to the end of the training, the mean over the repeats.",
        plot=Stacks(
            labels=tuple(facts.arm.name for facts in arms),
            parts=tuple((part, tuple(facts.parts_s.get(part, 0.0) for facts in arms)) for part in parts),
            texts=tuple(units.seconds(sum(facts.parts_s.values())) for facts in arms),
            x_title="seconds",
        ),
    )


def learning_charts(comparison: Comparison, runs: Runs) -> Iterator[Chart]:
    """Return losses and metrics against wall-clock time: training as lines, validation as points."""
    for metric, column in (("loss", "loss"), ("accuracy", "logs.accuracy")):
        series = [
            line
            for number, facts in enumerate(comparison.arms)
            for line in _learning_lines(number, facts, runs[facts.arm.name], metric, column)
        ]
        if series:
            yield Chart(
                name=f"{metric}-over-time",
                title=f"{metric.capitalize()} against time",
                text="Lines: training data, the mean of the epoch so far. Points: validation data after an epoch. "
                "One line for each repeat.",
                plot=Curves(
                    series=tuple(series),
                    x_title=_X_TRAINING,
                    y_title=metric,
                    is_log=metric == "loss",
                    level=_level(comparison, metric),
                ),
            )


def step_chart(comparison: Comparison, runs: Runs) -> Iterator[Chart]:
    """Return step times over the course of the training, with the spread of the blocks."""
    series = []
    for number, facts in enumerate(comparison.arms):
        lines = [line for run in runs[facts.arm.name] if (line := _step_line(run)) is not None]
        for place, (steps, quantiles) in enumerate(lines):
            series.append(
                Series(
                    name="" if place else facts.arm.name,
                    colour=number,
                    x=steps,
                    y=quantiles[1],
                    low=quantiles[0],
                    high=quantiles[2],
                )
            )
    if series:
        yield Chart(
            name="step-times",
            title="Step times over the training",
            text="Line: median of neighbouring steps. Band: from the 5th to the 95th percentile. First steps, which "
            "trace and compile, are left out.",
            plot=Curves(series=tuple(series), x_title="training step", y_title="ms per step", is_log=True),
        )


def device_charts(comparison: Comparison, runs: Runs) -> Iterator[Chart]:
    """Return what the sensors read while the first repeat of each arm trained; a chart for each sensor."""
    first = {
        facts.arm.name: own[0].devices
        for facts in comparison.arms
        if (own := [run for run in runs[facts.arm.name] if run.devices])
    }
    devices = dict.fromkeys(
        key.removesuffix(".t_ns") for columns in first.values() for key in columns if key.endswith(".t_ns")
    )
    for device in devices:
        for sensor, factor, word, title, from_zero in _SENSORS:
            series = [
                line
                for number, facts in enumerate(comparison.arms)
                if (
                    line := _sensor_line(number, facts, first.get(facts.arm.name, {}), device, sensor, factor)
                )
            ]
            if series:
                yield Chart(
                    name=f"{device}-{word}",
                    title=f"{device.upper()}: {word}",
                    text="While the first repeat of each arm trained.",
                    plot=Curves(
                        series=tuple(series), x_title=_X_TRAINING, y_title=title, from_zero=from_zero
                    ),
                )


def _learning_lines(
    number: int, facts: ArmFacts, runs: Sequence[StoredRun], metric: str, column: str
) -> Iterator[Series]:
    is_named = False
    for run in runs:
        ends = [epoch.end_ns for epoch in run.record.epochs]
        values = [epoch.logs.get(f"val_{metric}") for epoch in run.record.epochs]
        if len(run.steps.get(column, ())) and "end_ns" in run.steps:
            known = np.isfinite(run.steps[column])
            x, y = thin(run.steps["end_ns"][known] / 1e9, run.steps[column][known])
            if len(x) > 1:
                yield Series(name="" if is_named else facts.arm.name, colour=number, x=x, y=y)
                is_named = True
        points = [(end / 1e9, y) for end, y in zip(ends, values, strict=True) if end and y is not None]
        if points:
            yield Series(
                name="" if is_named else facts.arm.name,
                colour=number,
                x=tuple(x for x, _ in points),
                y=tuple(y for _, y in points),
                is_marked=True,
            )
            is_named = True


def _step_line(run: StoredRun) -> tuple[tuple[float, ...], tuple[tuple[float, ...], ...]] | None:
    mask, times_s = step_times(run.steps)
    if mask.sum() < 2:
        return None
    steps = np.cumsum(run.steps["steps"])[mask].astype(np.float64)
    groups = np.array_split(np.arange(len(steps)), min(_POINTS, len(steps)))
    values = times_s[mask] * 1e3
    quantiles = np.array([np.quantile(values[group], [0.05, 0.5, 0.95]) for group in groups])
    return _floats([steps[group].mean() for group in groups]), tuple(_floats(row) for row in quantiles.T)


def _sensor_line(
    number: int, facts: ArmFacts, columns: Mapping[str, Any], device: str, sensor: str, factor: float
) -> Series | None:
    values = columns.get(f"{device}.{sensor}")
    if values is None:
        return None
    known = np.isfinite(values)
    x, y = thin(columns[f"{device}.t_ns"][known] / 1e9, values[known] * factor)
    return Series(name=facts.arm.name, colour=number, x=x, y=y) if len(x) > 1 else None


def thin(x: Array, y: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return means of neighbouring points, so that a line has no more than a chart can show."""
    if not len(x):
        return (), ()
    groups = np.array_split(np.arange(len(x)), min(_POINTS, len(x)))
    return _floats([x[group].mean() for group in groups]), _floats([y[group].mean() for group in groups])


def _level(comparison: Comparison, metric: str) -> float | None:
    target = parse_target(comparison.target.replace(" ", "")) if comparison.target else None
    return target.value if target and target.metric.removeprefix("val_") == metric else None


def _floats(values: "Sequence[Any] | Array") -> tuple[float, ...]:
    # Six digits are more than a chart shows, and keep the page small.
    return tuple(float(f"{float(value):.6g}") for value in values)
