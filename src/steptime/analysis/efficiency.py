"""How much of a perfect speed-up several devices brought, as it was measured."""

import dataclasses
from collections.abc import Sequence

from steptime.analysis.interval import Interval
from steptime.analysis.verdict import Verdict
from steptime.record.stored import StoredRun


def replicas_of(runs: Sequence[StoredRun]) -> int | None:
    """Return how many devices trained together in each of the runs; None when they differ, or there are none."""
    found = {int((run.record.group or {}).get("replicas", 1)) for run in runs}
    return found.pop() if len(found) == 1 else None


def scaling_efficiency(verdict: Verdict | None, base: int | None, own: int | None) -> Interval | None:
    """Return the speed-up over the baseline as a share of what as many more devices could bring; 1 is perfect.

    With a batch divided among the devices this is strong scaling, with one that grows with them weak scaling; the
    verdict's ratio is for equal samples either way.

    Args:
        verdict: The arm, seen from the baseline; None for the baseline itself.
        base: Devices of the baseline.
        own: Devices of the arm.
    """
    ratio = verdict.speed_ratio if verdict is not None else None
    if ratio is None or base is None or own is None or base == own:
        return None
    share = base / own
    return dataclasses.replace(
        ratio, value=ratio.value * share, low=ratio.low * share, high=ratio.high * share
    )
