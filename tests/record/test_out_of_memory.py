"""What libraries say when memory runs out."""

import pytest

from steptime.record.out_of_memory import is_out_of_memory, needed_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (
            "OOM when allocating tensor with shape[2048,4096] and type float on /device:CPU:0 by allocator cpu",
            2048 * 4096 * 4,
        ),
        ("OOM when allocating tensor with shape[] and type half on /device:GPU:0 by allocator GPU_0_bfc", 2),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.", 8589934592),
        ("Failed to allocate request for 1.50GiB (1610612736B) on device ordinal 0", 1610612736),
        (
            "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.25GiB with freed_by_count=0.",
            2415919104,
        ),
        (
            "Unable to allocate 7.45 GiB for an array with shape (1000, 1000000) and data type float64",
            7999376588,
        ),
        ("OOM when allocating tensor with shape[3] and type resource", None),
        ("terminate called after throwing an instance of 'std::bad_alloc'", None),
        ("nothing of the kind", None),
    ],
)
def test_the_size_that_was_asked_for_is_read(text: str, size: int | None) -> None:
    assert needed_bytes(text) == size


def test_the_last_of_several_allocations_counts() -> None:
    text = (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB\n"
        "OOM when allocating tensor with shape[1024] and type float on /device:GPU:0"
    )

    assert needed_bytes(text) == 4096


def test_other_failures_are_not_taken_for_it() -> None:
    assert is_out_of_memory(
        "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc"
    )
    assert is_out_of_memory("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB")
    assert not is_out_of_memory("Segmentation fault (core dumped)")
    assert not is_out_of_memory("ResourceExhausted: /data/train.tfrecord; No space left on device")
