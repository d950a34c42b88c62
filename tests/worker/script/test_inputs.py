"""What a call's data show without being read."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steptime.worker.script.inputs import Inputs, describe_inputs


def described(x: Any, **given: Any) -> Inputs:
    defaults = {"batch_size": None, "validation_split": 0.0, "validation_data": None, "steps_per_epoch": None}
    return describe_inputs(SimpleNamespace(x=x, **{**defaults, **given}))


@given(samples=st.integers(1, 500), batch_size=st.integers(1, 64), share=st.floats(0.0, 0.9))
def test_the_parts_of_a_split_are_the_whole_and_every_sample_is_in_a_step(
    samples: int, batch_size: int, share: float
) -> None:
    found = described(np.zeros((samples, 2)), batch_size=batch_size, validation_split=share)

    assert found.samples is not None
    assert found.samples + (found.validation_samples or 0) == samples
    steps = found.steps_per_epoch or 0
    assert (steps - 1) * batch_size < max(found.samples, 1) <= max(steps, 1) * batch_size


def test_nested_arrays_count_by_their_first_axis() -> None:
    x = {"image": np.zeros((70, 4, 4)), "age": np.zeros(70)}

    found = described(x, validation_data=([np.zeros((9, 1))], np.zeros(9)))

    assert found == Inputs(samples=70, validation_samples=9, batch_size=32, steps_per_epoch=3)
    assert described(x, steps_per_epoch=2).steps_per_epoch == 2


def test_a_generator_shows_nothing_and_is_not_read() -> None:
    generator = iter([1])

    assert described(generator, steps_per_epoch=7) == Inputs(
        samples=None, validation_samples=None, batch_size=None, steps_per_epoch=7
    )
    assert next(generator) == 1


def test_a_pydataset_shows_its_number_of_batches() -> None:
    found = described(SimpleNamespace(num_batches=12))

    assert (found.samples, found.batch_size, found.steps_per_epoch) == (None, None, 12)
