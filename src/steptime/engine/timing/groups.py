"""What kind of work an operation is, by its TensorFlow type, or by the name XLA or a GPU library gave it."""

import re

_GROUPS: dict[str, str] = {
    "matmul": "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 Einsum SparseTensorDenseMatMul _FusedMatMul"
    " _MklMatMul _MklFusedMatMul _MklNativeMatMul _FusedBatchMatMulV2",
    "convolution": "Conv2D Conv3D Conv DepthwiseConv2dNative Conv2DBackpropInput Conv2DBackpropFilter"
    " Conv3DBackpropInputV2 Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropInput"
    " DepthwiseConv2dNativeBackpropFilter Conv2DBackpropInputV2 Conv2DBackpropFilterV2 _FusedConv2D"
    " _FusedConv3D _FusedDepthwiseConv2dNative CudnnRNNV3 CudnnRNNBackpropV3",
    "reduction": "Sum Mean Prod Max Min All Any ArgMax ArgMin L2Loss UnsortedSegmentSum BiasAddGrad Cumsum"
    " SparseSoftmaxCrossEntropyWithLogits SoftmaxCrossEntropyWithLogits Softmax LogSoftmax MaxPool AvgPool"
    " MaxPoolGrad AvgPoolGrad FusedBatchNormV3 FusedBatchNormGradV3 _FusedBatchNormEx InTopKV2 TopKV2",
    "memory": "Concat ConcatV2 Slice StridedSlice StridedSliceGrad Pad PadV2 Tile Transpose GatherV2 Gather"
    " GatherNd ResourceGather ScatterNd Pack Unpack Split SplitV Reverse ReverseV2 OneHot Fill ZerosLike OnesLike"
    " BroadcastTo Cast Copy DeepCopy Where Range TensorListStack TensorListSetItem TensorListGetItem"
    " TensorListFromTensor",
    "random": "StatelessRandomUniformV2 StatelessRandomNormalV2 StatelessTruncatedNormalV2 RandomUniform"
    " RandomStandardNormal TruncatedNormal StatelessRandomGetKeyCounter StatelessRandomUniformFullIntV2"
    " StatelessRandomUniformIntV2 RandomShuffle StatelessRandomGetAlg",
    "input": "IteratorGetNext IteratorGetNextAsOptional IteratorGetNextSync OptionalGetValue OptionalHasValue"
    " OptionalFromValue",
    "control": "NoOp Const Identity IdentityN ReadVariableOp AssignVariableOp Shape ShapeN Size Rank Reshape Squeeze"
    " ExpandDims StopGradient PreventGradient Switch Merge Enter Exit NextIteration LoopCond If StatelessIf While"
    " StatelessWhile PartitionedCall StatefulPartitionedCall Placeholder VarHandleOp BroadcastGradientArgs"
    " ConcatOffset _Arg _Retval _Send _Recv _HostSend _HostRecv DestroyTemporaryVariable VariableShape"
    " EnsureShape LogicalAnd Less InvertPermutation DynamicStitch",
}
# XLA's own operations, where it did not join them with others.
_GROUPS_OF_XLA: dict[str, str] = {
    "reduction": "reduce reduce-window select-and-scatter",
    "memory": "copy transpose concatenate slice dynamic-slice dynamic-update-slice gather scatter pad broadcast",
    "elementwise": "add subtract multiply divide maximum minimum power sqrt rsqrt exponential log tanh logistic select"
    " compare convert negate abs",
}
_GROUP_OF = {
    kind: group
    for groups in (_GROUPS, _GROUPS_OF_XLA)
    for group, kinds in groups.items()
    for kind in kinds.split()
}
_ELEMENTWISE = frozenset((
    "Add AddV2 AddN Sub Mul RealDiv Div DivNoNan Maximum Minimum Pow Square SquaredDifference Sqrt Rsqrt RsqrtGrad"
    " SqrtGrad Reciprocal ReciprocalGrad Exp Expm1 Log Log1p Tanh TanhGrad Sigmoid SigmoidGrad Relu ReluGrad Relu6"
    " Relu6Grad Elu EluGrad Selu SeluGrad Softplus SoftplusGrad LeakyRelu LeakyReluGrad Erf Erfc Abs Neg Sign Floor"
    " Ceil Round FloorMod FloorDiv Sin Cos BiasAdd Select SelectV2 Greater GreaterEqual LessEqual Equal NotEqual"
    " LogicalOr LogicalNot IsFinite IsNan ClipByValue Cast AssignAddVariableOp AssignSubVariableOp"
    " ResourceApplyAdam ResourceApplyGradientDescent ResourceApplyKerasMomentum _FusedMul"
).split())  # fmt: skip

# XLA names what it joined after parts of it (gemm_fusion_dot, loop_add_fusion), and libraries' kernels say what they
# are (ampere_sgemm_128x64); what a plain "fusion" or "custom-call" holds cannot be told. Convolutions come first,
# since many are implemented as gemm; "convert" is none.
_SPEAKING = (
    ("convolution", re.compile(r"conv(?!ert)")),
    ("matmul", re.compile(r"matmul|gemm|cublas|(?<![a-z])dot(?![a-z])")),
)

HEAVY = ("matmul", "convolution")


def group_of(kind: str) -> str:
    """One of matmul, convolution, elementwise, reduction, memory, random, input, control and other."""
    known = _GROUP_OF.get(kind) or ("elementwise" if kind in _ELEMENTWISE else None)
    if known is None and not kind.lstrip("_")[:1].isupper():  # TensorFlow's types begin with a capital
        known = next((group for group, name in _SPEAKING if name.search(kind.lower())), None)
    return known or "other"
