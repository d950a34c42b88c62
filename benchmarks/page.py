"""The Markdown page and the picture of one results file."""

from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

import machine
import measure

Model = dict[str, Any]
QUICK = "**A quick run: it shows that the script works, its numbers mean nothing.**\n\n"
FIT_HEADER = (
    "| model | batch | steps | Keras, ms a step | steptime, ms a step | step | whole epoch | one-epoch call | "
    "loop | longest epoch: Keras, steptime |\n"
    "| --- | --: | --: | --: | --: | --- | --- | --- | --- | --- |\n"
)
FIT_LEGEND = """
Ratios say how many times as long Keras takes: the ratio of medians, and in brackets the range over the pairs of
runs. *Step* is the time of a step inside an epoch: from the first batch's end to the last one's for Keras, by
the blocks of steps that it reports for steptime. *Whole epoch* includes iterators and what waits for them.
*One-epoch call* is the first call on a new model with everything: tracing, compiling, trying loops.

![ratios](fit.svg)

What steptime said, the loss after the last epoch and the largest peak of memory:

"""
PEERS_LEGEND = """
The median over processes of the median epoch: for Keras, on any backend, the time inside its epochs, for all
others whole epochs divided by their steps. The first call trains one epoch on a new model.

![time of a step](peers.svg)
"""


def write_fit(results: dict[str, Any], folder: Path) -> None:
    rows = "\n".join(_fit_row(model) for model in results["models"])
    details = "\n".join(_fit_details(model) for model in results["models"] if _complete(model))
    title = "# `steptime.fit` against `keras.Model.fit`\n\n"
    text = title + _preamble(results) + FIT_HEADER + rows + "\n" + FIT_LEGEND + details + "\n"
    (folder / "fit.md").write_text(text, encoding="utf-8")
    _plot_fit([model for model in results["models"] if _complete(model)], folder / "fit.svg")


def write_peers(results: dict[str, Any], folder: Path) -> None:
    models = results["models"]
    ways = list(models[0]["arms"])
    titles = " | ".join(f"{model['name']}: ms a step | first call, s" for model in models)
    lines = [f"| | {titles} |", "| --- |" + " --: | --: |" * len(models)]
    cells = {way: " | ".join(_peer_cells(model["arms"][way]) for model in models) for way in ways}
    lines += [f"| {way} | {cells[way]} |" for way in ways]
    text = (
        "# The same training by other means\n\n" + _preamble(results) + "\n".join(lines) + "\n" + PEERS_LEGEND
    )
    failures = [(way, m["name"], measure.failure(m["arms"][way])) for m in models for way in ways]
    lines = [f"* {way}, {name}: {why}" for way, name, why in failures if why]
    if lines:
        text += "\nNot measured:\n\n" + "\n".join(lines) + "\n"
    (folder / "peers.md").write_text(text, encoding="utf-8")
    _plot_peers(models, ways, folder / "peers.svg")


def _preamble(results: dict[str, Any]) -> str:
    return (
        f"{results['date']}. {machine.as_text(results['machine'])} "
        f"Processes for each way: {results['repeats']}.\n\n" + (QUICK if results["quick"] else "")
    )


def _complete(model: Model) -> bool:
    return not any(measure.failure(arms) for arms in model["arms"].values())


def _fit_row(model: Model) -> str:
    stock, ours = model["arms"]["keras"], model["arms"]["steptime"]
    steps = -(-model["rows"] // model["batch"])
    cells = [f"{model['name']} ({model['what']})", str(model["batch"]), str(steps), _ms(stock), _ms(ours)]
    if why := measure.failure(stock) or measure.failure(ours):
        return "| " + " | ".join([*cells, f"failed: {why}", "", "", "", ""]) + " |"
    cells += [_ratio(stock, ours, quantity) for quantity in ("step_s", "epoch_s", "call_s")]
    longest = [max(arm["longest_epoch_s"] for arm in arms) for arms in (stock, ours)]
    return "| " + " | ".join([*cells, ours[-1]["loop"], f"{longest[0]:.2f} s, {longest[1]:.2f} s"]) + " |"


def _fit_details(model: Model) -> str:
    stock, ours = model["arms"]["keras"], model["arms"]["steptime"]
    peaks = [max(arm["peak_bytes"] for arm in arms) / 2**20 for arms in (stock, ours)]
    return (
        f"* {model['name']}: {ours[-1]['chosen'][-1]}. Loss {stock[0]['loss'][-1]:.4g} by Keras, "
        f"{ours[0]['loss'][-1]:.4g} by steptime; {peaks[0]:.0f} MiB and {peaks[1]:.0f} MiB."
    )


def _peer_cells(arms: list[measure.Arm]) -> str:
    if measure.failure(arms):
        return "failed | "
    return f"{_ms(arms)} | {measure.median(arms, 'call_s'):.2f}"


def _ms(arms: list[measure.Arm]) -> str:
    step_s = measure.median(arms, "step_s")
    return "" if step_s is None else f"{step_s * 1e3:.3g}"


def _ratio(stock: list[measure.Arm], ours: list[measure.Arm], quantity: str) -> str:
    found = measure.ratio(stock, ours, quantity)
    return f"**{found['ratio']:.2f}** ({found['low']:.2f} to {found['high']:.2f})"


def _plot_fit(models: list[Model], path: Path) -> None:
    figure = Figure(figsize=(8, 1.2 + 0.45 * len(models)), layout="constrained")
    axes = figure.subplots()
    for offset, quantity, label in (
        (-0.2, "step_s", "steady step"),
        (0.2, "call_s", "first call, one epoch"),
    ):
        found = [measure.ratio(m["arms"]["keras"], m["arms"]["steptime"], quantity) for m in models]
        below = [max(f["ratio"] - f["low"], 0) for f in found]
        above = [max(f["high"] - f["ratio"], 0) for f in found]
        places = [place + offset for place in range(len(models))]
        bars = {"height": 0.36, "xerr": [below, above], "label": label, "error_kw": {"elinewidth": 0.8}}
        axes.barh(places, [f["ratio"] - 1 for f in found], left=1, **bars)
    axes.set_yticks(range(len(models)), [model["name"] for model in models])
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="times as fast as keras.Model.fit")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.invert_yaxis()
    axes.legend()
    _save(figure, path)


def _plot_peers(models: list[Model], ways: list[str], path: Path) -> None:
    figure = Figure(figsize=(4 * len(models), 3.2), layout="constrained")
    columns = figure.subplots(1, len(models), squeeze=False, sharey=True)[0]
    for axes, model in zip(columns, models, strict=True):
        steps_s = [measure.median(model["arms"][way], "step_s") for way in ways]
        colors = ["tab:orange" if way == "steptime" else "tab:blue" for way in ways]
        axes.barh(ways, [0 if s is None else s * 1e3 for s in steps_s], color=colors)
        axes.set(title=model["name"], xlabel="ms a step")
    columns[0].invert_yaxis()
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    with rc_context({"svg.hashsalt": "steptime"}):  # the same results make the same file
        figure.savefig(path, metadata={"Date": None})
