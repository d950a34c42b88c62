"""What counts as steady."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.record.steps import summarise_blocks


def columns(*blocks: tuple[int, int, bool, str], batch: int = 10) -> dict[str, Any]:
    """Columns of steps.npz from (steps, ns a step, compiled, loop)."""
    return {
        "steps": np.array([block[0] for block in blocks], np.int64),
        "samples": np.array([block[0] * batch for block in blocks], np.int64),
        "duration_ns": np.array([block[0] * block[1] for block in blocks], np.int64),
        "compiled": np.array([block[2] for block in blocks], np.bool_),
        "loop": np.array([block[3] for block in blocks], np.str_),
    }


def test_no_blocks_give_nothing() -> None:
    summary = summarise_blocks(columns())

    assert (summary.samples_per_s, summary.step_ns, summary.first_block_ns, summary.blocks) == (
        None,
        None,
        None,
        0,
    )


def test_compiling_and_former_loops_are_left_out() -> None:
    summary = summarise_blocks(
        columns(
            (1, 900, True, "keras"),
            (4, 200, False, "keras"),
            (1, 800, True, "graph"),
            (4, 100, False, "graph"),
            (4, 120, False, "graph"),
            (4, 5000, False, "graph"),
        )
    )

    assert (summary.steady_blocks, summary.blocks, summary.first_block_ns) == (3, 6, 900)
    assert summary.step_ns == 120
    assert summary.samples_per_s == pytest.approx(10 / 120e-9)


def test_a_single_block_is_the_first_and_never_steady() -> None:
    summary = summarise_blocks(columns((3, 100, False, "keras")))

    assert (summary.samples_per_s, summary.step_ns, summary.first_block_ns) == (None, None, 300)
    assert (summary.steady_blocks, summary.blocks) == (0, 1)


def test_unknown_numbers_of_samples_give_no_rate() -> None:
    summary = summarise_blocks(columns((1, 900, True, "keras"), (4, 200, False, "keras"), batch=0))

    assert (summary.samples_per_s, summary.step_ns) == (None, 200)


@given(st.lists(st.integers(1, 10**9), min_size=2, max_size=20))
def test_the_step_time_lies_among_those_of_the_steady_blocks(step_ns: list[int]) -> None:
    summary = summarise_blocks(columns(*[(1, value, False, "graph") for value in step_ns]))

    assert summary.step_ns is not None
    assert min(step_ns[1:]) <= summary.step_ns <= max(step_ns[1:])
