"""Traces in TensorFlow's format, read into events."""

from typing import Any

from steptime.worker.planes import read_trace


def test_operations_of_the_host_are_read_with_name_type_and_thread(host_trace: Any) -> None:
    trace = read_trace(host_trace)

    first = trace.events[0]
    assert first.name.endswith("net_1/conv_1/Relu")
    assert (first.kind, first.device, first.lane) == ("_FusedConv2D", "host", "thread 1")
    assert first.end_ns - first.begin_ns == 30_000


def test_only_what_lies_in_marked_steps_is_read(host_trace: Any) -> None:
    trace = read_trace(host_trace)

    assert [end - begin for begin, end in trace.windows] == [100_000, 100_000]
    assert sum(event.kind == "_FusedConv2D" for event in trace.events) == 2


def test_the_executors_own_bookkeeping_is_no_operation(host_trace: Any) -> None:
    kinds = {event.kind for event in read_trace(host_trace).events}

    assert kinds == {"_FusedConv2D", "Conv2DBackpropFilter", "Mul", "IteratorGetNext"}


def test_kernels_are_read_under_their_operation_or_their_own_name(gpu_trace: Any) -> None:
    kernels = [event for event in read_trace(gpu_trace).events if event.device == "gpu:0" and not event.copy]

    assert [(event.name, event.kind) for event in kernels] == [
        ("net/dense/MatMul", "MatMul"),
        ("fusion.7", "fusion"),
        ("void tiny_kernel<float>(float*)", "void tiny_kernel<float>(float*)"),
    ]


def test_copies_are_read_with_way_size_and_kind_of_memory(gpu_trace: Any) -> None:
    copies = [event for event in read_trace(gpu_trace).events if event.copy]

    assert [(event.copy, event.copy_bytes, event.copy_memory) for event in copies] == [
        ("host to device", 4096, "pageable"),
        ("device to host", 4, "pinned"),
    ]


def test_lines_that_viewers_derive_are_not_counted_twice(gpu_trace: Any) -> None:
    products = [event for event in read_trace(gpu_trace).events if event.kind == "MatMul"]

    assert [event.device for event in products] == ["host", "gpu:0"]
