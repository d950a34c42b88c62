"""How often verdicts are wrong: simulated comparisons with the noise of real machines.

Prints, for each kind of noise and number of repeats, the share of A/A comparisons that find a difference, the
share that call the arms the same, and the share of comparisons with a 10 % slower arm that find it; then the
coverage of the two kinds of interval. Everything from blocks on is simulated and goes through the same functions
as real runs.

    python benchmarks/verdicts.py [--comparisons 400] [--spread 0.015]
"""

import argparse
import math

import numpy as np

from steptime.analysis.bootstrap import ratio_of_medians_interval
from steptime.analysis.interval import Measured, ratio_interval
from steptime.analysis.steady import find_steady
from steptime.analysis.verdict import EARLY_CONFIDENCE, Repeat, judge

KINDS = ("normal", "drift", "walk", "step", "heavy tails", "bad runs", "all at once")
REPEATS = (2, 3, 4, 5, 6, 8)
BLOCKS = 40


def order(n):
    """A B B A A B ..., as runs are scheduled."""
    return np.array([arm for pair in range(n) for arm in ((0, 1) if pair % 2 == 0 else (1, 0))])


def run_effects(kind, runs, spread, rng):
    """Logarithm of each run's slowness, shape (runs,)."""
    place = np.arange(runs)
    normal = rng.normal(0, spread, runs)
    heavy = spread * rng.standard_t(3, runs)
    drift = rng.normal(0, 0.05) * place / (runs - 1)
    walk = np.cumsum(rng.normal(0, 0.01, runs))
    step = 0.1 * (place >= rng.integers(0, runs))
    bad = (rng.random(runs) < 0.1) * rng.uniform(0.05, 0.3, runs)
    return {
        "normal": normal,
        "drift": normal + drift,
        "walk": normal + walk,
        "step": normal + step,
        "heavy tails": heavy / math.sqrt(3),
        "bad runs": normal + bad,
        "all at once": heavy / math.sqrt(3) + walk / 2 + bad / 2,
    }[kind]


def blocks(effect, rng):
    """Block times of one run: warm-up, correlated noise, stalls."""
    noise = np.empty(BLOCKS)
    level = 0.0
    for place, shock in enumerate(rng.normal(0, 0.02, BLOCKS)):
        level = 0.5 * level + shock
        noise[place] = level
    warm_up = 0.5 * np.exp(-np.arange(BLOCKS) / 2)
    stalls = (rng.random(BLOCKS) < 0.04) * rng.uniform(0.2, 1.5, BLOCKS)
    return 0.01 * np.exp(effect + noise + warm_up + stalls)


def arms(kind, n, spread, slower, rng):
    effects = run_effects(kind, 2 * n, spread, rng)
    which = order(n)
    runs = [blocks(effect + slower * arm, rng) for effect, arm in zip(effects, which, strict=True)]
    return [[run for run, arm in zip(runs, which, strict=True) if arm == wanted] for wanted in (0, 1)]


def repeats(runs):
    return [Repeat(steady=find_steady(run)) for run in runs]


def rates(kind, n, options, rng):
    kinds = {0.0: [], math.log(1.1): []}
    for slower, found in kinds.items():
        for _ in range(options.comparisons):
            base, other = arms(kind, n, options.spread, slower, rng)
            found.append(judge(repeats(base), repeats(other)).kind)
    same, slow = (np.array(found) for found in kinds.values())
    false = np.isin(same, ("faster", "slower")).mean()
    return false, (same == "same").mean(), (slow == "slower").mean()


def early_stop_rate(kind, options, rng):
    """Share of false differences when every number of repeats from 2 to 8 is looked at."""
    false = 0
    for _ in range(options.comparisons):
        base, other = (repeats(runs) for runs in arms(kind, 8, options.spread, 0.0, rng))
        looks = [judge(base[:n], other[:n], EARLY_CONFIDENCE if n < 8 else 0.95).kind for n in range(2, 9)]
        false += any(kind in ("faster", "slower") for kind in looks)
    return false / options.comparisons


def coverage(n, options, rng):
    inside = np.zeros(2)
    for _ in range(options.comparisons):
        base, other = (
            [run[find_steady(run).first :] for run in runs]
            for runs in arms("normal", n, options.spread, 0.0, rng)
        )
        measured = [[Measured(value=float(np.median(run))) for run in runs] for runs in (base, other)]
        intervals = ratio_interval(*measured), ratio_of_medians_interval(base, other, resamples=500)
        inside += [interval.low <= 1 <= interval.high for interval in intervals]
    return inside / options.comparisons


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comparisons", type=int, default=400)
    parser.add_argument(
        "--spread", type=float, default=0.015, help="standard deviation between runs, as a share"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print(
        f"{options.comparisons} comparisons a cell, runs differ by {options.spread:.1%}, {BLOCKS} blocks a run"
    )
    print("false difference / called the same / 10 % slow-down found, in %\n")
    print(f"{'noise':12}" + "".join(f"{f'{n} repeats':>16}" for n in REPEATS) + f"{'stopping early':>16}")
    totals = []
    for kind in KINDS:
        cells = [rates(kind, n, options, rng) for n in REPEATS]
        totals += [cell[0] for cell in cells]
        early = early_stop_rate(kind, options, rng)
        text = "".join(f"{f'{a * 100:.1f} / {b * 100:.0f} / {c * 100:.0f}':>16}" for a, b, c in cells)
        print(f"{kind:12}{text}{early * 100:>16.1f}", flush=True)
    print(f"\nfalse differences over all cells: {np.mean(totals):.2%} of {len(totals) * options.comparisons}")
    print("\n95 % intervals that hold the true ratio:\nrepeats   Student's t   hierarchical bootstrap")
    for n in (*REPEATS, 16):
        student, bootstrap = coverage(n, options, rng)
        print(f"{n:7}{student:14.1%}{bootstrap:25.1%}", flush=True)


if __name__ == "__main__":
    main()
