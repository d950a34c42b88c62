"""Blackwell: XLA aborts because its PTX version is too low."""

from steptime.diagnosis.condition import All, Says, more
from steptime.diagnosis.environment.commands import XLA_STEP
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="blackwell-xla-ptx-version",
    title="XLA's PTX version is too low for this Blackwell GPU: the process aborts when it compiles.",
    cause=(
        "XLA takes the highest PTX version from the CUDA it was built with (12.5: 8.5), but sm_120 "
        "needs 8.7, and LLVM then aborts the whole process. It concerns jit_compile=True, and Keras "
        "3's default jit_compile='auto'."
    ),
    remedies=(
        Remedy(
            (
                (
                    "# model.compile(..., jit_compile=False), and no tf.function(jit_compile=True), with "
                    "TensorFlow up to 2.21 on Blackwell"
                ),
                (
                    "# or a build made with CUDA 12.8 or newer: docker run --rm -it --gpus all "
                    "nvcr.io/nvidia/tensorflow:25.03-tf2-py3 bash"
                ),
            )
        ),
    ),
    verify=XLA_STEP,
    clues=(
        Clue(
            3.6,
            Says(
                r"ptx version .{1,5} does not support target",
                r"minimum required ptx version",
                r"does not support target '?sm_1[0-2]\d",
                r"sm_1[0-2]\d'? is not a recognized processor",
            ),
        ),
        Clue(2.2, All(more("gpu_cc_max", 11.9), Says(r"llvm error"))),
    ),
    commonness=2,
    consequences=("gpu-calculation-failed", "blackwell-sm90a-ptx", "cc-too-new-ptx-jit", "ptxas-missing"),
    decide="Does it run with jit_compile=False?",
    fires=(
        Case(
            log="LLVM ERROR: PTX version 8.5 does not support target 'sm_120'. Minimum required PTX version is 8.7",
            stated=("gpu=RTX 5060 Ti",),
        ),
    ),
    silent=(
        Case(
            log="CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed",
            stated=("gpu=RTX 5060 Ti", "tensorflow=2.20"),
        ),
    ),
)
