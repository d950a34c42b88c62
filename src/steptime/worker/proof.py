"""Proof of placement: counts the ops of executed graphs by device, and where the variables live."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from tensorflow.python.eager import context as tf_context

from steptime.errors import RunError
from steptime.record.placement import contradiction
from steptime.record.schema import Proof

# Ops that move, name or test values: they compute nothing, wherever they lie.
_BOOKKEEPING = frozenset(
    "Const Identity IdentityN NoOp Placeholder VarHandleOp ReadVariableOp VarIsInitializedOp Shape ShapeN Size"
    " Rank Reshape Squeeze ExpandDims Pack Unpack StopGradient PreventGradient Bitcast Switch RefSwitch Merge"
    " Enter Exit NextIteration LoopCond StatelessIf StatelessWhile If While GatherV2 Slice StridedSlice"
    " IteratorGetNext IteratorGetNextSync OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone"
    " AssignVariableOp ZerosLike OnesLike Fill TensorListReserve TensorListFromTensor TensorListStack"
    " TensorListGetItem TensorListSetItem EmptyTensorList TensorListPushBack TensorListPopBack".split()
)
_HEAVY = ("MatMul", "Conv2D", "Conv3D", "DepthwiseConv2d", "Einsum", "CudnnRNN")
_FLOATS = frozenset({1, 2, 14, 19})  # DT_FLOAT, DT_DOUBLE, DT_BFLOAT16, DT_HALF of tensorflow/types.proto


class GraphRecorder:
    """Collects the partitioned graphs that TensorFlow executes between ``start`` and ``stop``."""

    def __init__(self) -> None:
        self._on = False

    def start(self) -> None:
        """Ask TensorFlow to keep the graphs it executes from now on."""
        if not self._on:
            tf_context.context().enable_run_metadata()
            self._on = True

    def stop(self) -> tuple[Any, ...]:
        """Return the executed graphs, each a GraphDef after placement and optimisation, and stop collecting."""
        if not self._on:
            return ()
        metadata = tf_context.context().export_run_metadata()
        tf_context.context().disable_run_metadata()
        self._on = False
        return tuple(metadata.partition_graphs)


def make_proof(
    graphs: Iterable[Any], variables: Iterable[Any], planned_device: str, *, is_xla_program: bool = False
) -> Proof:
    """Count compute ops and variables by device.

    Args:
        graphs: Executed GraphDefs.
        variables: The model's and the optimizer's Keras variables.
        planned_device: Such as ``GPU:0``; several are joined by ", ".
        is_xla_program: Whether the step was called as one XLA program. TensorFlow keeps no graph of it; it runs
            on the device on which its variables lie, since XLA takes no variable of another device.
    """
    compute: Counter[str] = Counter()
    heavy: dict[str, Counter[str]] = {}
    for place, node in _compute_nodes(graphs):
        device = short_device(place)
        compute[device] += 1
        if _is_xla(node) or any(word in node.op for word in _HEAVY):
            heavy.setdefault(device, Counter())["XLA program" if _is_xla(node) else node.op] += 1
    places = Counter(device for variable in variables for device in _variable_devices(variable))
    if is_xla_program and places:
        device = places.most_common(1)[0][0]
        compute[device] += 1
        heavy.setdefault(device, Counter())["XLA program"] += 1
    heavy_ops = {device: tuple(f"{op} x {n}" for op, n in ops.most_common()) for device, ops in heavy.items()}
    return Proof(
        planned_device=planned_device,
        compute_ops=dict(compute),
        heavy_ops=heavy_ops,
        variables=dict(places),
        contradiction=contradiction(planned_device, compute, heavy_ops, places),
    )


def has_compute_ops(graphs: Iterable[Any]) -> bool:
    """Whether executed graphs compute anything, and do not only make data sets or move values."""
    return any(True for _ in _compute_nodes(graphs))


def refuse_contradiction(proof: Proof, device: str) -> None:
    """Let no numbers stand that were measured elsewhere.

    Raises:
        RunError: The proof contradicts the plan.
    """
    if proof.contradiction:
        raise RunError(
            f"The run must execute on {device}. {proof.contradiction[0].upper()}{proof.contradiction[1:]}",
            hint="Remove tf.device(...) from the workload, or ask for the device it names.",
        )


def short_device(name: str) -> str:
    """Shorten ``/job:localhost/replica:0/task:0/device:GPU:0`` to ``GPU:0``."""
    return name.rpartition("device:")[2] or "unplaced"


def _compute_nodes(graphs: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    """Yield (device, node) of all that computes; a whole XLA program is one node."""
    for graph in graphs:
        yield from ((place, node) for place, node in _nodes(graph) if _is_xla(node) or _computes(node))


def _is_xla(node: Any) -> bool:
    return "_XlaMustCompile" in node.attr and bool(node.attr["_XlaMustCompile"].b)


def _nodes(graph: Any) -> Iterable[tuple[str, Any]]:
    """Yield (device, node) of a partition, and of the functions it calls where the executor has not inlined them.

    Bodies of functions carry no device of their own when they run where their caller runs.
    """
    yield from ((node.device, node) for node in graph.node)
    functions = {function.signature.name: function for function in graph.library.function}
    called = [(node.device, name) for node in graph.node for name in _called(node)]
    seen: set[tuple[str, str]] = set()
    while called:
        device, name = called.pop()
        if (device, name) in seen or name not in functions:
            continue
        seen.add((device, name))
        for node in functions[name].node_def:
            place = node.device or device
            yield place, node
            called += [(place, inner) for inner in _called(node)]


def _called(node: Any) -> list[str]:
    # Data pipelines hold functions too, but they are input, not the training step; XLA counts as one op.
    if "Dataset" in node.op or _is_xla(node):
        return []
    return [value.func.name for value in node.attr.values() if value.func.name]


def _computes(node: Any) -> bool:
    if node.op in _BOOKKEEPING or (node.op.startswith("_") and not node.op.startswith("_Fused")):
        return False
    attributes: Mapping[str, Any] = node.attr
    kinds = {attributes[key].type for key in ("T", "dtype", "DstT", "Tparams") if key in attributes}
    return bool(kinds & _FLOATS)


def _variable_devices(variable: Any) -> list[str]:
    """Where a variable lives: under a strategy it has a copy on each device."""
    value = getattr(variable, "value", variable)
    # Of TensorFlow's own variables, which Keras 2 uses, `value` is a method.
    held = variable if callable(value) else value
    copies = getattr(held, "values", None)
    copies = copies if isinstance(copies, (tuple, list)) else (held,)
    return [short_device(str(getattr(copy, "device", "") or "")) for copy in copies]
