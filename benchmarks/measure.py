"""Runs arms in processes of their own, in alternating order, and compares them."""

import json
import os
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Arm = dict[str, Any]
TIMEOUT_S = 900


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Arm:
    """Runs one arm; its last line of output is its result. A failure is a result too: `{"failed": why}`."""
    surroundings = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", **(environment or {})}
    try:
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"failed": str(error)}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"failed": (done.stderr.strip() or "no output").splitlines()[-1][:300]}
    result: Arm = json.loads(lines[-1])
    return result


def alternate(
    arms: Mapping[str, Callable[[], Arm]], repeats: int, tell: Callable[[str], None]
) -> dict[str, list[Arm]]:
    """Runs each arm `repeats` times: A B, B A, A B ... so that a drift of the machine meets all of them
    alike.

    An arm that failed is not repeated.
    """
    results: dict[str, list[Arm]] = {name: [] for name in arms}
    for repeat in range(repeats):
        order = list(arms) if repeat % 2 == 0 else list(reversed(arms))
        for name in order:
            if any("failed" in arm for arm in results[name]):
                continue
            results[name].append(arms[name]())
            tell(f"{name}: {brief(results[name][-1])}")
    return results


def brief(arm: Arm) -> str:
    if "failed" in arm:
        return f"failed: {arm['failed']}"
    return f"{arm['step_s'] * 1e3:.3f} ms a step, first call {arm['call_s']:.2f} s"


def median(arms: Sequence[Arm], quantity: str) -> float | None:
    values = [arm[quantity] for arm in arms if "failed" not in arm]
    return statistics.median(values) if values else None


def failure(arms: Sequence[Arm]) -> str | None:
    return next((arm["failed"] for arm in arms if "failed" in arm), None)


def ratio(slow: Sequence[Arm], fast: Sequence[Arm], quantity: str) -> dict[str, float] | None:
    """How many times as long `slow` takes: ratio of medians, and the range over runs made in pairs."""
    above, below = median(slow, quantity), median(fast, quantity)
    if above is None or below is None:
        return None
    pairs = [
        a[quantity] / b[quantity]
        for a, b in zip(slow, fast, strict=False)
        if "failed" not in a and "failed" not in b
    ]
    return {"ratio": above / below, "low": min(pairs), "high": max(pairs)}
