"""Reads what libraries say when memory runs out: how much was asked for, and whether that was it at all. Pure."""

import math
import re

# Bytes of TensorFlow's types as its messages name them.
_TYPE_BYTES = {
    "bool": 1, "int8": 1, "uint8": 1, "half": 2, "bfloat16": 2, "int16": 2, "uint16": 2, "float": 4, "int32": 4,
    "uint32": 4, "double": 8, "int64": 8, "uint64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
_UNIT_BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}

# TensorFlow's allocators, tensor by tensor.
_TENSOR = re.compile(r"OOM when allocating tensor with shape\[([\d,]*)\] and type (\w+)")
# XLA and TensorFlow's GPU allocators: "trying to allocate 123 bytes", "request for 1.50GiB (1610612736B)".
_PLAIN = re.compile(
    r"(?:trying to allocate|[Oo]ut of memory allocating) (\d+) bytes|request for [^()]*\((\d+)B\)"
)
# NumPy: "Unable to allocate 7.45 GiB for an array", and TensorFlow: "trying to allocate 2.25GiB".
_ROUNDED = re.compile(r"(?:Unable|trying) to allocate ([\d.]+) ?([KMGT]iB|B)\b")

_SIGNS = (
    "OOM when allocating",
    "RESOURCE_EXHAUSTED: Out of memory",
    "ran out of memory trying to allocate",
    "std::bad_alloc",
    "MemoryError",
    "Cannot allocate memory",
)


def is_out_of_memory(text: str) -> bool:
    """Whether a message, or the end of a log, says that memory ran out."""
    return any(sign in text for sign in _SIGNS)


def needed_bytes(text: str) -> int | None:
    """Return how many bytes the allocation that failed asked for, or None where the text does not say.

    Args:
        text: An error's message or lines of a log; the last allocation in it counts.
    """
    found = [(match.start(), _product(match[1], match[2])) for match in _TENSOR.finditer(text)]
    found += [(match.start(), int(match[1] or match[2])) for match in _PLAIN.finditer(text)]
    found += [
        (match.start(), int(float(match[1]) * _UNIT_BYTES[match[2]])) for match in _ROUNDED.finditer(text)
    ]
    sizes = [size for _, size in sorted(found, key=lambda pair: pair[0]) if size is not None]
    return sizes[-1] if sizes else None


def _product(shape: str, kind: str) -> int | None:
    size = _TYPE_BYTES.get(kind)
    return None if size is None else size * math.prod(int(length) for length in shape.split(",") if length)
