"""Blackwell with TensorFlow 2.16 to 2.20: kernels that can't be compiled."""

from steptime.diagnosis.condition import All, Any, Check, Not, Says, Unknown, at_least, below, is_, more
from steptime.diagnosis.environment.commands import TRAIN_STEP
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

_BROKEN = All(at_least("tensorflow", "2.16"), below("tensorflow", "2.21"))


RULE = Rule(
    kind="blackwell-sm90a-ptx",
    title="TensorFlow 2.16 to 2.20 can't run its element-wise kernels on Blackwell GPUs.",
    cause=(
        "In those wheels 1149 kernels carry PTX for the target sm_90a, which by design can't be "
        "compiled for a later architecture; the GPU is listed and the first operation fails."
    ),
    remedies=(
        Remedy(
            (
                "python -m pip install --upgrade 'tensorflow[and-cuda]>=2.21'   # driver 570 or newer",
                "# or NVIDIA's image: docker run --rm -it --gpus all nvcr.io/nvidia/tensorflow:25.03-tf2-py3 bash",
            )
        ),
    ),
    verify=TRAIN_STEP,
    clues=(
        Clue(
            2.6,
            Says(
                r"cuda_error_invalid_ptx",
                r"a ptx jit compilation failed",
                r"ptx jit compilation.{0,30}(fail|error)",
            ),
        ),
        Clue(
            2.4,
            Says(
                r"'?culaunchkernel.{0,160}cuda_error_invalid_handle",
                r"cuda_error_invalid_handle",
                r"cuda_error_invalid_resource_handle",
            ),
        ),
        Clue(2.4, All(more("gpu_cc_max", 9.9), _BROKEN)),
        Clue(1.0, All(more("gpu_cc_max", 9.9), Unknown("tensorflow"))),
        Clue(
            2.3,
            All(
                more("gpu_cc_max", 9.9),
                Says(r"internalerror", r"no kernel image", r"invalid_ptx", r"failed to (load|launch)"),
            ),
        ),
        Clue(
            0.8,
            All(more("gpu_cc_max", 9.9), Any(Says(r"compute capability 1[0-2]\.\d"), Says(r"sm_1[0-2]\d"))),
        ),
        Clue(0.6, more("gpu_cc_max", 9.9)),
    ),
    commonness=3,
    unless=(
        Check("gpu_cc_max", test=lambda cc: float(str(cc)) < 9.9),
        is_("arch", "aarch64"),
        All(WINDOWS, at_least("tensorflow", "2.11")),
        All(at_least("tensorflow", "2.21"), Not(Says(r"cuda_error_invalid_(ptx|handle|resource)"))),
    ),
    consequences=("gpu-calculation-failed", "cc-too-new-ptx-jit", "cc-too-old"),
    decide=(
        'python -c "import tensorflow as tf; print(tf.__version__)"; nvidia-smi --query-gpu=name,'
        "compute_cap --format=csv"
    ),
    fires=(
        Case(
            log=(
                "INTERNAL: Failed to load in-memory CUBIN: CUDA_ERROR_INVALID_PTX: a PTX JIT compilation "
                "failed\n'cuLaunchKernel(function, gridX)' failed with 'CUDA_ERROR_INVALID_HANDLE'"
            ),
            stated=("platform=wsl2", "gpu=RTX 5080", "tensorflow=2.19"),
        ),
        Case(stated=("platform=linux", "gpu=RTX 5090", "tensorflow=2.20")),
    ),
    silent=(
        Case(stated=("platform=linux", "gpu=RTX 5090", "tensorflow=2.21")),
        Case(stated=("platform=linux", "gpu=RTX 4090", "tensorflow=2.20")),
    ),
)
