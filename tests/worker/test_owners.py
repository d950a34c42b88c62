"""Which layer an operation belongs to, by its name."""

import pytest

from steptime.worker.owners import Owners, inside

STEP = "while/body/_1/while/StatefulPartitionedCall/StatefulPartitionedCall/"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"{STEP}net_1/conv2d_1/Relu", "net_1/conv2d_1/Relu"),
        ("net_1/conv2d_1/Relu", "net_1/conv2d_1/Relu"),
        ("while/cond/_0/while/Less", "while/cond/_0/while/Less"),
    ],
)
def test_what_tensorflow_puts_before_a_name_is_taken_off(name: str, expected: str) -> None:
    assert inside(name) == expected


def owner_of(name: str, layers: list[str], names: list[str]) -> str | None:
    return Owners(layers, names, "adam").of(name).layer


def test_a_layer_is_found_under_its_own_name() -> None:
    names = ["net/conv2d/Relu", "net/conv2d_1/Relu"]

    assert [owner_of(name, ["conv2d", "conv2d_1"], names) for name in names] == ["conv2d", "conv2d_1"]


def test_layers_are_found_where_tensorflow_numbered_all_of_them_anew() -> None:
    names = ["net_1/conv2d_1/Relu", "net_1/conv2d_1_2/Relu"]

    assert [owner_of(name, ["conv2d", "conv2d_1"], names) for name in names] == ["conv2d", "conv2d_1"]


def test_a_layer_inside_a_layer_counts_and_not_the_one_around_it() -> None:
    name = "net/encoder/attention/query/einsum/Einsum"

    assert owner_of(name, ["encoder", "attention", "query"], [name]) == "query"


def test_the_optimizer_updates_whatever_its_operations_are_called() -> None:
    owners = Owners(["dense"], ["net/dense/MatMul"], "adam")

    assert owners.of("adam_2/Mul_3").role == "update"
    assert owners.of("gradient_tape/net/dense/MatMul").role == "backward"
    assert owners.of("compile_loss/mse/Mean").role == "loss"
    assert owners.of("Sum_2").role == "other"


def test_reading_data_is_input() -> None:
    assert Owners([], [], "adam").of("IteratorGetNext", "input").role == "input"
