"""Floating-point operations of TensorFlow's operations, from the shapes of their tensors.

A multiply-add counts as two. The heavy ones are exact (Chellapilla, Puri and Simard, "High performance
convolutional neural networks for document processing", 2006: a convolution is a matrix product of its unfolded
input); element-wise operations count one an element, reductions one for each element they read.
"""

import math
from collections.abc import Callable
from typing import Any

from steptime.engine.timing.groups import HEAVY

Shape = tuple[int, ...]


def flops_of(op: Any, group: str) -> int | None:
    """Floating-point operations of one execution; None when a shape or the formula of a heavy one is not known.

    Args:
        op: A `tf.Operation`.
        group: Its group, as of `groups.group_of`.
    """
    formula = _FORMULAS.get(op.type)
    try:
        if formula is not None:
            return formula(op)
        if group == "elementwise":
            return _size(op.outputs[0]) if op.outputs else _size(op.inputs[-1])
        if group == "reduction":
            return _size(op.inputs[0])
    except (_UnknownShape, IndexError):
        return None
    return None if group in HEAVY else 0


class _UnknownShape(Exception):  # noqa: N818 - not an error, a detour
    """A shape is not fully known."""


def _shape(tensor: Any) -> Shape:
    if not tensor.shape.is_fully_defined():
        raise _UnknownShape
    return tuple(tensor.shape)


def _size(tensor: Any) -> int:
    return math.prod(_shape(tensor))


def _matmul(op: Any) -> int:
    a = _shape(op.inputs[0])
    inner = a[0] if op.get_attr("transpose_a") else a[1]
    return 2 * _size(op.outputs[0]) * inner


def _batch_matmul(op: Any) -> int:
    a = _shape(op.inputs[0])
    inner = a[-2] if op.get_attr("adj_x") else a[-1]
    return 2 * _size(op.outputs[0]) * inner


def _einsum(op: Any) -> int:
    """Twice the product of all labels' sizes where two operands are joined."""
    left, _, right = op.get_attr("equation").decode().partition("->")
    sizes: dict[str, int] = {}
    for labels, tensor in zip(left.split(","), op.inputs, strict=True):
        shape = _shape(tensor)
        named = labels.replace("...", "")
        # An ellipsis stands for leading axes, which the output has too.
        sizes |= dict(zip(reversed(named), reversed(shape), strict=False))
    summed = math.prod(size for label, size in sizes.items() if label not in right)
    return (2 if len(op.inputs) > 1 else 1) * _size(op.outputs[0]) * summed


def _convolution(op: Any) -> int:
    return _convolved(op.outputs[0], _shape(op.inputs[1]))


def _convolution_input(op: Any) -> int:
    return _convolved(op.inputs[2], _shape(op.inputs[1]))


def _convolution_filter(op: Any) -> int:
    return _convolved(op.inputs[2], _shape(op.outputs[0]))


def _convolved(out: Any, kernel: Shape) -> int:
    """Kernel: spatial axes, input channels of a group, output channels."""
    return 2 * _size(out) * math.prod(kernel[:-1])


def _depthwise(op: Any) -> int:
    return 2 * _size(op.outputs[0]) * math.prod(_shape(op.inputs[1])[:2])


def _depthwise_input(op: Any) -> int:
    return 2 * _size(op.inputs[2]) * math.prod(_shape(op.inputs[1])[:2])


def _depthwise_filter(op: Any) -> int:
    return 2 * _size(op.inputs[2]) * math.prod(_shape(op.outputs[0])[:2])


def _pool(op: Any) -> int:
    return _size(op.outputs[0]) * int(math.prod(op.get_attr("ksize")))


_FORMULAS: dict[str, Callable[[Any], int]] = {
    "MatMul": _matmul,
    "BatchMatMul": _batch_matmul,
    "BatchMatMulV2": _batch_matmul,
    "BatchMatMulV3": _batch_matmul,
    "Einsum": _einsum,
    "Conv2D": _convolution,
    "Conv3D": _convolution,
    "Conv2DBackpropInput": _convolution_input,
    "Conv2DBackpropFilter": _convolution_filter,
    "Conv3DBackpropInputV2": _convolution_input,
    "Conv3DBackpropFilterV2": _convolution_filter,
    "DepthwiseConv2dNative": _depthwise,
    "DepthwiseConv2dNativeBackpropInput": _depthwise_input,
    "DepthwiseConv2dNativeBackpropFilter": _depthwise_filter,
    "MaxPool": _pool,
    "AvgPool": _pool,
}
