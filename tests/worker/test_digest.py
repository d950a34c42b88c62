"""Traces, digested: by type, by layer, launches, gaps, copies, and a picture."""

from typing import Any

import pytest

from steptime.engine.timing.groups import group_of
from steptime.record.operations import Operations
from steptime.worker.digest import Work, digest
from steptime.worker.planes import read_trace

LAYERS = {"conv": "Conv2D", "dense": "Dense"}


def digested(message: Any, steps: int, **work: Work) -> Operations:
    return digest(read_trace(message), steps, layers=LAYERS, optimizer="adam", work=work)


def test_times_are_a_step_and_the_longest_type_comes_first(host_trace: Any) -> None:
    operations = digested(host_trace, 2)

    assert operations.step_s == pytest.approx(100e-6)
    assert [(k.kind, k.count) for k in operations.kinds][:2] == [("_FusedConv2D", 1), ("Mul", 2)]
    assert operations.kinds[0].time_s == pytest.approx(30e-6)
    assert operations.kinds[0].group == "convolution"


def test_each_layer_has_its_forward_and_backward_time_and_the_optimizer_its_own(host_trace: Any) -> None:
    layers = {item.layer: item for item in digested(host_trace, 2).layers}

    assert layers["conv"].forward_s == pytest.approx(30e-6)
    assert layers["conv"].backward_s == pytest.approx(20e-6)
    assert layers["(optimizer)"].forward_s == pytest.approx(22e-6)
    assert layers["(input)"].forward_s == pytest.approx(5e-6)
    assert "dense" not in layers


def test_all_times_by_layer_add_up_to_all_times_by_type(host_trace: Any) -> None:
    operations = digested(host_trace, 2)

    by_layer = sum(item.forward_s + item.backward_s for item in operations.layers)
    assert by_layer == pytest.approx(sum(item.time_s for item in operations.kinds))


def test_operations_at_once_keep_a_device_busy_once_and_waiting_for_input_does_not(host_trace: Any) -> None:
    (host,) = digested(host_trace, 2).busy

    assert host.busy_s == pytest.approx((60 + 2) * 1e-6)
    assert host.idle_s == pytest.approx(100e-6 - host.busy_s)
    assert host.launches == 4
    assert host.small_launches == 1


def test_a_fused_operation_gets_the_arithmetic_of_the_heavy_one_in_its_scope(host_trace: Any) -> None:
    work = {
        "net_1/conv_1/convolution": Work(flops=5_000, bytes=80),
        "net_1/conv_1/Relu": Work(flops=10, bytes=20),
    }
    operations = digest(read_trace(host_trace), 2, layers=LAYERS, optimizer="adam", work=work)

    node = operations.nodes[0]
    assert (node.name, node.flops, node.layer, node.role) == ("net_1/conv_1/Relu", 5_000, "conv", "forward")


def test_an_operation_that_the_graph_does_not_know_has_no_made_up_arithmetic(host_trace: Any) -> None:
    assert {node.flops for node in digested(host_trace, 2).nodes} == {None}


def test_the_gpu_and_the_host_are_told_apart(gpu_trace: Any) -> None:
    operations = digested(gpu_trace, 1)

    assert {(k.kind, k.device) for k in operations.kinds} >= {("MatMul", "host"), ("MatMul", "gpu:0")}
    gpu = next(item for item in operations.busy if item.device == "gpu:0")
    assert (gpu.launches, gpu.small_launches) == (3, 1)


def test_copies_are_no_operations_but_keep_the_device_busy(gpu_trace: Any) -> None:
    operations = digested(gpu_trace, 1)

    to_device = next(item for item in operations.copies if item.kind == "host to device")
    assert (to_device.bytes, to_device.memory, to_device.count) == (4096, "pageable", 1)
    assert "Memcpy" not in {item.kind for item in operations.kinds}
    gpu = next(item for item in operations.busy if item.device == "gpu:0")
    assert gpu.busy_s == pytest.approx((12 + 30 + 10 + 4 + 2) * 1e-6)


def test_an_xla_program_and_its_loops_are_not_counted_beside_what_runs_inside_them(xla_trace: Any) -> None:
    kinds = {item.kind: item for item in digested(xla_trace, 1).kinds}

    assert {kind: item.group for kind, item in kinds.items()} == {
        "matmul": "matmul",
        "dot_add_fusion": "matmul",
        "add_multiply_fusion": "other",
    }
    assert sum(item.time_s for item in kinds.values()) == pytest.approx(74e-6)


@pytest.mark.parametrize(
    ("kind", "group"),
    [
        ("gemm_fusion_dot_general", "matmul"),
        ("cublas-gemm", "matmul"),
        ("ampere_sgemm_128x64_tn", "matmul"),
        ("cudnn-conv-bias-activation", "convolution"),
        ("implicit_convolve_sgemm", "convolution"),
        ("convert", "elementwise"),
        ("convert_fusion", "other"),
        ("fusion", "other"),
        ("custom-call", "other"),
        ("UnknownConv", "other"),
    ],
)
def test_what_xla_and_libraries_name_themselves_is_grouped_by_its_name(kind: str, group: str) -> None:
    assert group_of(kind) == group


def test_the_picture_shows_one_stretch_from_its_beginning(host_trace: Any) -> None:
    bars = digested(host_trace, 2).timeline

    assert len(bars) == 5
    assert bars[0].begin_s == pytest.approx(10e-6)
    assert {bar.lane for bar in bars} == {"thread 1", "thread 2", "thread 3"}
