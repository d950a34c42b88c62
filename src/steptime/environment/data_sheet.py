"""What the data sheets say about GPUs: ``data/gpus.csv``, with the source of each row in the table itself."""

import csv
import re
from functools import cache
from importlib import resources


@cache
def _rows() -> tuple[tuple[frozenset[str], str], ...]:
    text = resources.files("steptime.environment").joinpath("data/gpus.csv").read_text()
    return tuple((_words(row["name"]), row["fp32_tflops"]) for row in csv.DictReader(text.splitlines()))


def _words(name: str) -> frozenset[str]:
    cleaned = re.sub(r"\(.*?\)", " ", name.lower())
    return frozenset(re.sub(r"(sxm)\d", r"\1", word) for word in re.split(r"[^a-z0-9]+", cleaned) if word)


def fp32_tflops(name: str) -> float | None:
    """Return the float32 rate of a GPU according to its data sheet, in TFLOP/s, or ``None`` when the table lacks it.

    Of the rows whose model stands in the name, the one with most words in common is taken.

    >>> fp32_tflops("Tesla V100-SXM2-16GB"), fp32_tflops("NVIDIA GeForce RTX 5070 Ti"), fp32_tflops("Quadro P620")
    (15.7, 43.9, None)
    """
    wanted = _words(name)
    best: tuple[int, int, float] | None = None
    for words, rate in _rows():
        # Words such as 16GB, PCIe or SXM choose between variants; all others must be there.
        model = {word for word in words if not re.fullmatch(r"\d+gb|pcie|sxm|hgx|1000w|aws|g5", word)}
        if not rate or not model <= wanted:
            continue
        found = (len(model), len(words & wanted), float(rate))
        best = found if best is None or found[:2] > best[:2] else best
    return best[2] if best else None
