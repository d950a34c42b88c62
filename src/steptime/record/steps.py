"""Summary of block times: what is steady, and how fast it was."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from steptime.record.schema import StepTimes

if TYPE_CHECKING:
    import numpy as np


def counting(columns: "Mapping[str, np.ndarray[Any, Any]]") -> "np.ndarray[Any, Any]":
    """Return which blocks say how fast the run was.

    They are those of the loop that executed most of the second half of the steps: before, loops may have been
    tried out, and a last incomplete batch may run in another. Not among them are blocks that traced or compiled,
    the very first one, which holds what every library does once, and those of less than a sixteenth of the
    steps of the longest, since blocks grow at first and the cost of each call weighs on the short ones.

    Args:
        columns: The columns of steps.npz, at least one block.

    Returns:
        A mask of shape (n blocks,).
    """
    import numpy as np

    steps, loops = columns["steps"], columns["loop"]
    late = np.cumsum(steps) > steps.sum() / 2
    names = np.unique(loops[late])
    loop = names[np.argmax([steps[late & (loops == name)].sum() for name in names])]
    mask = ~columns["compiled"] & (loops == loop)
    mask[0] = False
    longest = steps[mask].max(initial=0)
    return np.asarray(mask & (steps * 16 >= longest))


def summarise_blocks(columns: "dict[str, np.ndarray[Any, Any]]") -> StepTimes:
    """Summarise the columns of steps.npz.

    Steady are the blocks that `counting` names. The medians ignore blocks that a busy machine stretched.
    """
    import numpy as np

    blocks = len(columns["duration_ns"])
    if blocks == 0:
        return StepTimes(samples_per_s=None, step_ns=None, first_block_ns=None, steady_blocks=0, blocks=0)
    first_ns = int(columns["duration_ns"][0])
    steady = counting(columns)
    if not steady.any():
        return StepTimes(
            samples_per_s=None, step_ns=None, first_block_ns=first_ns, steady_blocks=0, blocks=blocks
        )
    duration_ns = columns["duration_ns"][steady]
    rates = columns["samples"][steady] / duration_ns * 1e9
    known = columns["samples"][steady] > 0
    return StepTimes(
        samples_per_s=float(np.median(rates[known])) if known.any() else None,
        step_ns=float(np.median(duration_ns / columns["steps"][steady])),
        first_block_ns=first_ns,
        steady_blocks=int(steady.sum()),
        blocks=blocks,
    )
