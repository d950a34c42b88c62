"""Facts of the inputs: their values, and what happens to these before the first layer with weights."""

from dataclasses import dataclass, field, replace
from typing import Any

import keras
import numpy as np

from steptime.engine import private_keras
from steptime.engine.inspection.data import arrays_of
from steptime.engine.inspection.sample import leaves, rows, shape_of
from steptime.engine.inspection.subject import NotKnown, Subject

_WEIGHTY = (
    "Dense", "EinsumDense", "Conv1D", "Conv2D", "Conv3D", "DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D",
    "SeparableConv2D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "LSTM", "GRU", "SimpleRNN", "RNN",
    "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "TimeDistributed", "MultiHeadAttention",
)  # fmt: skip
_IDS = (
    "Embedding", "StringLookup", "IntegerLookup", "Hashing", "HashedCrossing", "CategoryEncoding", "TextVectorization",
    "Discretization",
)  # fmt: skip
_KEEPS_RANGE = (
    "Reshape", "Flatten", "Permute", "RepeatVector", "Masking", "Dropout", "SpatialDropout1D", "SpatialDropout2D",
    "GaussianNoise", "RandomFlip", "RandomRotation", "RandomZoom", "RandomTranslation", "RandomCrop", "RandomContrast",
    "RandomBrightness", "RandomShear", "RandomPerspective", "CenterCrop", "Resizing", "ZeroPadding1D", "ZeroPadding2D",
    "ZeroPadding3D", "Cropping2D", "UpSampling2D", "Identity", "ExpandDims", "Squeeze", "Cast", "GetItem", "Transpose",
)  # fmt: skip
_STANDARDISES = (
    "BatchNormalization", "LayerNormalization", "GroupNormalization", "UnitNormalization", "RMSNormalization",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How far an input was followed.

    Attributes:
        low: Least value there; None when it can't be told.
        high: Greatest value there.
        reaches: Class of the first layer with weights; None while none is reached.
        rescaled: Names of the layers that scaled by constants.
        tensor: Where it stands.
    """

    low: float | None
    high: float | None
    reaches: str | None = None
    rescaled: tuple[str, ...] = ()
    tensor: Any = field(default=None, repr=False)


def read_inputs(subject: Subject) -> list[dict[str, Any]]:
    """Values of each input, in the order of the model's inputs."""
    x, _ = arrays_of(subject)
    graph = private_keras.graph_of(subject.model)
    named = leaves(x)
    inputs = list(graph.inputs) if graph is not None else []
    if isinstance(x, dict) and graph is not None:
        named = [(f"[{tensor.name!r}]", x[tensor.name]) for tensor in inputs if tensor.name in x]
    found = []
    for number, (way, array) in enumerate(named):
        facts = {"name": f"x{way}", **_values(array)}
        start = inputs[number] if number < len(inputs) else None
        found.append(facts | _way(graph, start, facts["low"], facts["high"]))
    if not found:
        raise NotKnown("no x was passed")
    return found


def _values(array: Any) -> dict[str, Any]:
    values = rows(array)
    facts: dict[str, Any] = {
        "dtype": str(values.dtype), "low": None, "high": None, "mean": None, "std": None, "finite_share": None,
        "read": len(values), "samples": shape_of(array)[0],
    }  # fmt: skip
    if values.dtype.kind not in "biuf" or not values.size:
        return facts
    if values.dtype.kind == "f":
        finite = np.isfinite(values)
        facts["finite_share"] = float(finite.mean())
        if facts["finite_share"] < 1:
            values = values[finite]
    else:
        facts["finite_share"] = 1.0
    if values.size:
        facts |= {"low": float(values.min()), "high": float(values.max())}
        facts |= {"mean": float(values.mean(dtype=np.float64)), "std": float(values.std(dtype=np.float64))}
    return facts


def _way(
    graph: "private_keras.Graph | None", start: Any, low: float | None, high: float | None
) -> dict[str, Any]:
    way = Way(low=None, high=None)
    if graph is not None and start is not None and low is not None:
        way = _follow(graph, start, Way(low=low, high=high))
    reached = way.reaches is not None and way.reaches not in _IDS
    return {
        "reaches": "Embedding" if way.reaches in _IDS else way.reaches,
        "low_there": way.low if reached else None,
        "high_there": way.high if reached else None,
        "rescaled": list(way.rescaled),
    }


def _follow(graph: "private_keras.Graph", start: Any, way: Way) -> Way:
    """Follow a tensor to the first layer with weights, or to the end of the graph."""
    here = start
    for _ in range(len(graph.nodes) + 1):
        node = next(graph.consumers(here), None)
        if node is None:
            break
        way = _pass(node, here, way)
        if way.reaches is not None or way.low is None:
            return way
        here = node.outputs[0]
    return replace(way, tensor=here)


def _pass(node: "private_keras.Node", tensor: Any, way: Way) -> Way:
    """What one layer does to the range of values."""
    operation, kind = node.operation, type(node.operation).__name__
    inner = private_keras.graph_of(operation) if isinstance(operation, keras.Model) else None
    if inner is not None:
        position = next(n for n, taken in enumerate(node.inputs) if taken is tensor)
        return _follow(inner, inner.inputs[position], way)
    if not type(operation).__module__.startswith("keras."):
        return replace(way, low=None, high=None)
    if kind in _WEIGHTY or kind in _IDS:
        return replace(way, reaches=kind)
    if kind in _KEEPS_RANGE or (kind == "Activation" and operation.activation.__name__ == "linear"):
        return way
    if kind in _STANDARDISES:
        return replace(way, low=-3.0, high=3.0, rescaled=())
    factor, offset = _affine(node)
    if factor is None or offset is None or way.low is None or way.high is None:
        return replace(way, low=None, high=None)
    ends = sorted((way.low * factor + offset, way.high * factor + offset))
    return replace(way, low=ends[0], high=ends[1], rescaled=(*way.rescaled, operation.name))


def _affine(node: "private_keras.Node") -> tuple[float | None, float | None]:
    """Factor and offset of a layer or operation that scales by constants, averaged over channels; else None."""
    operation, kind = node.operation, type(node.operation).__name__
    if kind == "Rescaling":
        return float(np.mean(operation.scale)), float(np.mean(operation.offset))
    if kind == "Normalization" and operation.mean is not None:
        mean = float(np.mean(keras.ops.convert_to_numpy(operation.mean)))
        deviation = float(np.sqrt(np.mean(keras.ops.convert_to_numpy(operation.variance))))
        if deviation and not operation.invert:
            return 1 / deviation, -mean / deviation
    constants = [item for item in node.arguments if isinstance(item, (int, float))]
    if len(node.inputs) == 1 and len(constants) == 1 and len(node.arguments) == 2:
        value = float(constants[0])
        first = not isinstance(node.arguments[0], (int, float))
        return {
            "TrueDivide": (1 / value if value and first else None, 0.0),
            "Divide": (1 / value if value and first else None, 0.0),
            "Multiply": (value, 0.0),
            "Add": (1.0, value),
            "Subtract": (1.0, -value) if first else (-1.0, value),
        }.get(kind, (None, None))
    return None, None
