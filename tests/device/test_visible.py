import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.device.device import DeviceFacts
from steptime.device.visible import visible_devices


def card(index, name="A", uuid=None, mig_index=None, mig_mode="disabled"):
    return DeviceFacts(
        kind="gpu",
        index=index,
        name=name,
        uuid=uuid or f"GPU-{index}abc",
        mig_index=mig_index,
        mig_mode=mig_mode,
    )


SAME = [card(0), card(1), card(2)]
MIXED = [card(0, "A"), card(1, "B"), card(2, "A")]
MIG = [
    card(0, mig_mode="enabled"),
    card(0, uuid="MIG-11", mig_index=0, mig_mode=None),
    card(0, uuid="MIG-22", mig_index=1, mig_mode=None),
    card(1),
]


@pytest.mark.parametrize(
    ("value", "positions", "ended_by"),
    [
        (None, (0, 1, 2), None),
        ("", (), ""),
        ("-1", (), "-1"),
        ("2,1", (2, 1), None),
        ("0,2,-1,1", (0, 2), "-1"),  # the example of the CUDA Programming Guide
        ("GPU-1", (1,), None),
        ("GPU-", (), "GPU-"),  # names more than one
        (" 1 , GPU-0abc ", (1, 0), None),
        ("9", (), "9"),
        ("NoDevFiles", (), "NoDevFiles"),
        ("0,0", (0,), "0"),
    ],
)
def test_the_list_is_read_as_cuda_reads_it(value, positions, ended_by):
    environ = {} if value is None else {"CUDA_VISIBLE_DEVICES": value}
    seen = visible_devices(SAME, environ)
    assert (seen.positions, seen.ended_by, seen.order_known) == (positions, ended_by, True)


def test_numbers_are_uncertain_among_different_cards_and_identifiers_are_not():
    assert not visible_devices(MIXED, {"CUDA_VISIBLE_DEVICES": "1"}).order_known
    assert visible_devices(MIXED, {"CUDA_VISIBLE_DEVICES": "GPU-1"}).order_known
    by_bus = {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert visible_devices(MIXED, by_bus).order_known


def test_slices_are_named_by_identifier_and_a_number_means_the_first_slice():
    assert visible_devices(MIG, {"CUDA_VISIBLE_DEVICES": "MIG-22"}).positions == (2,)
    assert visible_devices(MIG, {"CUDA_VISIBLE_DEVICES": "0"}).positions == (1,)
    assert visible_devices(MIG, {"CUDA_VISIBLE_DEVICES": "1"}).positions == (3,)
    assert visible_devices(MIG, {}).positions == (1, 2, 3)


@given(st.lists(st.sampled_from(["0", "1", "2", "3", "-1", "GPU-0", "GPU-2a", "x", ""]), max_size=6))
def test_no_device_is_seen_twice_and_all_exist(entries):
    seen = visible_devices(SAME, {"CUDA_VISIBLE_DEVICES": ",".join(entries)})
    assert len(set(seen.positions)) == len(seen.positions) <= len(entries)
    assert set(seen.positions) <= {0, 1, 2}
