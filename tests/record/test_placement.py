"""Proof against plan."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.record.placement import contradiction

HEAVY_GPU = {"GPU:0": ("MatMul x 2",)}


@pytest.mark.parametrize(
    ("planned", "compute", "heavy", "variables"),
    [
        ("CPU:0", {"CPU:0": 9}, {"CPU:0": ("MatMul x 1",)}, {"CPU:0": 4}),
        ("CPU:0", {"CPU:0": 9}, {}, {}),
        ("GPU:0", {"GPU:0": 9}, HEAVY_GPU, {"GPU:0": 4}),
        ("GPU:0", {"GPU:0": 9, "CPU:0": 2}, HEAVY_GPU, {"GPU:0": 4, "CPU:0": 2}),
        ("GPU:0", {"GPU:0": 9, "CPU:0": 2}, {**HEAVY_GPU, "CPU:0": ()}, {"GPU:0": 4}),
        ("GPU:1", {"GPU:1": 1}, {}, {"GPU:1": 1, "CPU:0": 1}),
        ("CPU:0, CPU:1", {"CPU:0": 9, "CPU:1": 8}, {}, {"CPU:0": 4, "CPU:1": 4}),
        (
            "GPU:0, GPU:1",
            {"GPU:0": 9, "GPU:1": 9, "CPU:0": 1},
            HEAVY_GPU,
            {"GPU:0": 4, "GPU:1": 4, "CPU:0": 8},
        ),
    ],
)
def test_a_run_on_its_device_agrees(
    planned: str, compute: dict[str, int], heavy: dict[str, tuple[str, ...]], variables: dict[str, int]
) -> None:
    assert contradiction(planned, compute, heavy, variables) is None


@pytest.mark.parametrize(
    ("planned", "compute", "heavy", "variables", "words"),
    [
        ("CPU:0", {}, {}, {"CPU:0": 4}, "no executed compute op was found in the training step"),
        ("GPU:0", {"GPU:0": 0}, {}, {}, "no executed compute op was found in the training step"),
        ("GPU:0", {"CPU:0": 9}, {}, {"CPU:0": 4}, "no compute op ran on GPU:0; they ran on CPU:0"),
        ("GPU:0, GPU:1", {"GPU:0": 9}, {}, {}, "no compute op ran on GPU:1; they ran on GPU:0"),
        (
            "CPU:0, CPU:1",
            {"CPU:0": 9, "CPU:1": 9, "CPU:2": 1},
            {},
            {},
            "compute ops ran outside CPU:0, CPU:1: 1 on CPU:2",
        ),
        (
            "GPU:1",
            {"GPU:0": 9, "CPU:0": 1},
            HEAVY_GPU,
            {"GPU:0": 4},
            "no compute op ran on GPU:1; they ran on CPU:0, GPU:0",
        ),
        (
            "CPU:0",
            {"CPU:0": 9, "CPU:1": 2, "GPU:0": 1},
            {},
            {"CPU:0": 4},
            "compute ops ran outside CPU:0: 2 on CPU:1, 1 on GPU:0",
        ),
        ("CPU:0", {"CPU:0": 9, "unplaced": 1}, {}, {}, "compute ops ran outside CPU:0: 1 on unplaced"),
        (
            "GPU:0",
            {"GPU:0": 9, "CPU:0": 2, "GPU:1": 2},
            {**HEAVY_GPU, "CPU:0": ("Conv2D x 1",), "GPU:1": ("a", "b", "c", "d")},
            {"GPU:0": 4},
            "heavy ops ran outside GPU:0: Conv2D x 1 on CPU:0; a, b, c on GPU:1",
        ),
        ("GPU:0", {"GPU:0": 9}, HEAVY_GPU, {"CPU:0": 4, "GPU:0": 1}, "4 of 5 variables lie outside it"),
    ],
)
def test_a_run_elsewhere_contradicts(
    planned: str,
    compute: dict[str, int],
    heavy: dict[str, tuple[str, ...]],
    variables: dict[str, int],
    words: str,
) -> None:
    assert contradiction(planned, compute, heavy, variables) == words


@given(st.dictionaries(st.sampled_from(["CPU:0", "CPU:1", "GPU:0", "GPU:1"]), st.integers(0, 5)))
def test_a_cpu_run_agrees_only_if_every_op_ran_on_the_cpu(compute: dict[str, int]) -> None:
    ran = {device for device, count in compute.items() if count}
    counted = {device: count for device, count in compute.items() if count}

    assert (contradiction("CPU:0", counted, {}, {}) is None) == (ran == {"CPU:0"})
