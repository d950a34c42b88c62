"""A place in a group from Slurm's variables, as srun sets them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.errors import UsageError
from steptime.launch.slurm import expand_counts, expand_nodes, slurm_place

# As `srun env` shows them in a step of five tasks on three nodes (names shortened).
STEP: dict[str, str] = {
    "SLURM_JOB_ID": "4711",
    "SLURM_STEP_ID": "0",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "1",
    "SLURM_NTASKS": "5",
    "SLURM_STEP_NUM_TASKS": "5",
    "SLURM_JOB_NODELIST": "gpu[01-03],login",
    "SLURM_STEP_NODELIST": "gpu[01-03]",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
    "SLURMD_NODENAME": "gpu02",
}


def step(**changes: Any) -> dict[str, str]:
    return {name: str(value) for name, value in {**STEP, **changes}.items() if value is not None}


def test_the_place_follows_from_the_step() -> None:
    place = slurm_place(step())
    assert place.rank == 3
    assert [address.split(":")[0] for address in place.addresses] == [
        "gpu01",
        "gpu01",
        "gpu02",
        "gpu02",
        "gpu03",
    ]
    assert len(set(place.addresses)) == 5


def test_every_task_finds_the_same_addresses() -> None:
    nodes = ["gpu01", "gpu01", "gpu02", "gpu02", "gpu03"]
    places = [slurm_place(step(SLURM_PROCID=rank, SLURMD_NODENAME=node)) for rank, node in enumerate(nodes)]
    assert len({place.addresses for place in places}) == 1


def test_reserved_ports_are_taken() -> None:
    place = slurm_place(step(SLURM_STEP_RESV_PORTS="12000-12001"))
    assert place.addresses[:2] == ("gpu01:12000", "gpu01:12001")


def test_one_task_is_no_group() -> None:
    alone = step(
        SLURM_STEP_NUM_TASKS=1, SLURM_PROCID=0, SLURM_STEP_NODELIST="a", SLURM_STEP_TASKS_PER_NODE="1"
    )
    assert slurm_place({**alone, "SLURMD_NODENAME": "a"}).workers == 1


def test_older_names_of_the_variables_are_known() -> None:
    old = step(SLURM_STEP_NUM_TASKS=None, SLURM_STEP_NODELIST=None, SLURM_JOB_NODELIST="gpu[01-03]")
    assert slurm_place(old).workers == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"SLURM_PROCID": None}, "needs the variable SLURM_PROCID"),
        ({"SLURM_PROCID": "x"}, "must be a number"),
        ({"SLURM_STEP_NODELIST": "gpu01"}, "must agree"),
        ({"SLURM_STEP_TASKS_PER_NODE": "2(y3)"}, "must be numbers"),
        ({"SLURM_STEP_NODELIST": "gpu[a-b]"}, "must hold numbers"),
        ({"SLURMD_NODENAME": "gpu03"}, "node by node"),
    ],
)
def test_variables_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        slurm_place(step(**changes))


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("a", ("a",)),
        ("a,b-1", ("a", "b-1")),
        ("n[1-3,7]", ("n1", "n2", "n3", "n7")),
        ("n[08-10]", ("n08", "n09", "n10")),
        ("r[1-2]c[1-2]", ("r1c1", "r1c2", "r2c1", "r2c2")),
        ("n[1-2].site,m", ("n1.site", "n2.site", "m")),
    ],
)
def test_lists_of_nodes_are_expanded(text: str, nodes: tuple[str, ...]) -> None:
    assert expand_nodes(text) == nodes


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)), min_size=1, max_size=5))
def test_counts_are_expanded(parts: list[tuple[int, int]]) -> None:
    text = ",".join(str(n) if times == 1 else f"{n}(x{times})" for n, times in parts)
    assert expand_counts(text) == tuple(n for n, times in parts for _ in range(times))
