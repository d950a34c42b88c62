"""The model or batch does not fit into the GPU's memory."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="oom-model-too-big",
    title="The model or the batch does not fit into the GPU's memory.",
    cause="This process already has nearly the whole GPU, and the batch's activations need more than the card has.",
    remedies=(
        Remedy(
            (
                (
                    "# halve the batch size or the input size until it fits; "
                    "keras.mixed_precision.set_global_policy('mixed_float16') saves about half"
                ),
                "export TF_GPU_ALLOCATOR=cuda_malloc_async   # against fragmentation",
            )
        ),
    ),
    verify="# train one epoch with the smaller batch",
    clues=(
        Clue(
            2.6,
            Says(
                r"oom when allocating tensor",
                r"memory_limit_: ?\d{1,14} available bytes: ?0",
                r"sum total of in-use chunks",
                r"resourceexhaustederror",
                r"(sub-?optimal|is full).{0,60}bfc",
            ),
        ),
        Clue(
            2.2,
            Says(
                r"ran out of memory trying to allocate",
                r"resource ?exhausted",
                r"out of memory (while )?trying to allocate",
                r"try reducing (the )?batch",
            ),
        ),
        Clue(2.2, Says(r"dst tensor is not initialized")),
        Clue(
            2.0,
            Says(r"cuda_error_out_of_memory", r"cublas_status_alloc_failed", r"cudnn_status_alloc_failed"),
        ),
        Clue(0.5, Says(r"shape\[\d{1,6},\d{1,6}", r"batch[_ ]size", r"stats: ?limit:")),
    ),
    commonness=3,
    unless=(is_("gpu_others", True),),
    consequences=("gpu-calculation-failed",),
    decide="nvidia-smi before the start: is the card's memory free (this kind) or held by another process?",
    fires=(
        Case(
            log=(
                "OP_REQUIRES failed at conv_ops.cc:684 : Resource exhausted: OOM when allocating tensor with "
                "shape[128,64,224,224] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by "
                "allocator GPU_0_bfc"
            )
        ),
    ),
    silent=(
        Case(
            log=(
                "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.13GiB with freed_by_count=0. "
                "The caller indicates that this is not a failure, but this may mean that there could be "
                "performance gains if more memory were available."
            )
        ),
    ),
)
