"""Runs the scripts of examples/scripts under `python` and under `steptime run`: same results, and how fast.

    python benchmarks/scripts.py             # all scripts, three repeats
    python benchmarks/scripts.py --quick     # once each: shows that it works
    python benchmarks/scripts.py lstm        # those whose name contains a word

Three arms in alternating order: `python`, `steptime run --loop keras` (measured, not accelerated) and `steptime run`.
What the scripts print as their result is compared. With Keras' own loop it must be the same up to `EQUAL` of its size;
with steptime's too, where samples come in an order that the script makes. Where they are shuffled steptime draws
another order than Keras does, and results may differ by `SHUFFLED`.
"""

import argparse
import datetime
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import machine

HERE = Path(__file__).parent
SCRIPTS = HERE.parent / "examples" / "scripts"
RESULTS = HERE / "results"
NUMBER = re.compile(r"(\S+) (-?\d+(?:\.\d+)?(?:e-?\d+)?)(?=\s|$)")
# Largest differences between results, as a share of their size.
EQUAL = 2e-3
SHUFFLED = 0.25
# Scripts whose samples come in an order that the script itself makes; tf.data draws a new one for each iterator.
IN_ORDER = {"generator"}
ARMS: dict[str, list[str]] = {
    "python": [sys.executable],
    "keras": [sys.executable, "-m", "steptime", "run", "--device", "cpu", "--loop", "keras", "--json"],
    "steptime": [sys.executable, "-m", "steptime", "run", "--device", "cpu", "--json"],
}

LEGEND = """# Scripts under `python` and under `steptime run`

{preamble}

`python benchmarks/scripts.py` makes this page. *Whole script* is the process from start to end, with the import of
TensorFlow (seconds) and steptime's summary; *in fit* is the time inside the script's `fit` calls, of the same script
with Keras' own loop (`--loop keras`) and with the loop that steptime chose. *Difference* is the largest relative
one from what the script prints under `python`: with Keras' loop, with steptime's, and (allowed) there.

| script | whole script: python, s | steptime, s | in fit: Keras, s | steptime, s | ratio in fit | loops | difference |
| --- | --: | --: | --: | --: | --: | --- | --: |
"""

Arm = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("words", nargs="*", help="only scripts whose name contains one of these")
    options = parser.parse_args()
    repeats = 1 if options.quick else options.repeats
    about = machine.describe()
    scripts = [path for path in sorted(SCRIPTS.glob("*.py")) if wanted(path.stem, options.words)]
    found = {path.stem: compare(path, repeats) for path in scripts}
    results = {
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "quick": options.quick,
        "repeats": repeats,
        "machine": about,
        "scripts": found,
    }
    page = as_page(results)
    print(page)
    if not options.quick and not options.words:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "scripts.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        (RESULTS / "scripts.md").write_text(page, encoding="utf-8")
    sys.exit(0 if all(script["same"] for script in found.values()) else 1)


def wanted(name: str, words: list[str]) -> bool:
    return not words or any(word in name for word in words)


def compare(path: Path, repeats: int) -> dict[str, Any]:
    """Runs a script in all arms, A B C, C B A ..., and compares what came out."""
    arms: dict[str, list[Arm]] = {name: [] for name in ARMS}
    for repeat in range(repeats):
        for name in list(ARMS) if repeat % 2 == 0 else list(reversed(ARMS)):
            arms[name].append(run(name, path))
            print(f"{path.stem} {name}: {arms[name][-1]}", file=sys.stderr)
    limits = {"keras": EQUAL, "steptime": EQUAL if path.stem in IN_ORDER else SHUFFLED}
    expected = arms["python"][0]["result"]
    found = {name: max(differ(expected, arm["result"]) for arm in arms[name]) for name in limits}
    same = all(found[name] <= limit for name, limit in limits.items())
    return {"arms": arms, "difference": found, "limit": limits, "same": same}


def run(name: str, path: Path) -> Arm:
    with tempfile.TemporaryDirectory() as folder:
        begin_s = time.perf_counter()
        done = subprocess.run([*ARMS[name], path], cwd=folder, capture_output=True, text=True, timeout=600)
        wall_s = time.perf_counter() - begin_s
    if done.returncode:
        sys.exit(f"{name} {path}: exit code {done.returncode}\n{done.stderr}")
    if name == "python":
        return {"wall_s": wall_s, "result": result_in(done.stdout)}
    fits = json.loads(done.stdout)["fits"]
    return {
        "wall_s": wall_s,
        "result": result_in(done.stderr),
        "fit_s": sum(phase["duration_ns"] for fit in fits for phase in fit["phases"]) / 1e9,
        "step_ms": [(fit["steps"]["step_ns"] or 0) / 1e6 for fit in fits],
        "loops": [fit["execution"]["loop"] for fit in fits],
    }


def result_in(text: str) -> dict[str, float]:
    line = next(line for line in text.splitlines() if line.startswith("result "))
    return {name: float(value) for name, value in NUMBER.findall(line.removeprefix("result "))}


def differ(one: dict[str, float], other: dict[str, float]) -> float:
    """The largest relative difference; values near 0 are compared with 0.01."""
    if set(one) != set(other):
        return float("inf")
    return max(abs(one[key] - other[key]) / max(abs(one[key]), 0.01) for key in one)


def as_page(results: dict[str, Any]) -> str:
    preamble = f"{results['date']}. {machine.as_text(results['machine'])} Processes for each way: {results['repeats']}."
    lines = [LEGEND.format(preamble=preamble).rstrip("\n")]
    for name, script in results["scripts"].items():
        arms = script["arms"]
        python_s, steptime_s = (median(arms[arm], "wall_s") for arm in ("python", "steptime"))
        keras_fit_s, fit_s = (median(arms[arm], "fit_s") for arm in ("keras", "steptime"))
        loops = ", ".join(dict.fromkeys(arms["steptime"][-1]["loops"]))
        apart, limit = script["difference"], script["limit"]["steptime"]
        lines.append(
            f"| {name} | {python_s:.1f} | {steptime_s:.1f} | {keras_fit_s:.2f} | {fit_s:.2f} | "
            f"**{keras_fit_s / fit_s:.2f}** | {loops} | {apart['keras']:.2g}, {apart['steptime']:.2g} ({limit:.2g}) |"
        )
    return "\n".join(lines) + "\n"


def median(arms: list[Arm], quantity: str) -> float:
    return statistics.median(arm[quantity] for arm in arms)


if __name__ == "__main__":
    main()
