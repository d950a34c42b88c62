"""Summary of block times: what is steady, and how fast it was."""

from typing import TYPE_CHECKING, Any

from steptime.record.schema import StepTimes

if TYPE_CHECKING:
    import numpy as np


def summarise_blocks(columns: "dict[str, np.ndarray[Any, Any]]") -> StepTimes:
    """Summarise the columns of steps.npz.

    Steady are the blocks of the loop that ran last, without those that traced or compiled. The very first block
    never counts, as it holds what every library does once. The medians ignore blocks that a busy machine
    stretched.
    """
    import numpy as np

    blocks = len(columns["duration_ns"])
    if blocks == 0:
        return StepTimes(samples_per_s=None, step_ns=None, first_block_ns=None, steady_blocks=0, blocks=0)
    first_ns = int(columns["duration_ns"][0])
    steady = ~columns["compiled"] & (columns["loop"] == columns["loop"][-1])
    steady[0] = False
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
