"""Native Windows: TensorFlow 2.11 and later has no GPU build there."""

from steptime.diagnosis.condition import All, Any, Says, Unknown, at_least, below, is_
from steptime.diagnosis.environment.commands import LIST_GPUS, WSL_STEPS
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.environment.signs import CUDA_IN_USE, NO_GPU_LISTED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="windows-native-no-gpu",
    title="On native Windows, TensorFlow 2.11 and later can't use a GPU.",
    cause=(
        "The Windows wheels are CPU-only builds since 2.11, so no CUDA or cuDNN installation changes "
        "anything; TensorFlow prints no error."
    ),
    remedies=(
        Remedy(
            (
                *WSL_STEPS,
                (
                    "# or stay on native Windows: Python 3.10, CUDA 11.2, cuDNN 8.1, pip install "
                    'tensorflow==2.10.1 "numpy<2"'
                ),
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(2.4, All(WINDOWS, at_least("tensorflow", "2.11"))),
        Clue(2.2, All(WINDOWS, Unknown("tensorflow"), at_least("python", "3.11"))),
        Clue(2, All(WINDOWS, Unknown("tensorflow"), Any(NO_GPU_LISTED, is_("tensorflow_build", "cpu")))),
        Clue(
            0.8,
            All(
                WINDOWS,
                Any(
                    NO_GPU_LISTED,
                    is_("tensorflow_build", "cpu"),
                    is_("tensorflow_gpus", 0),
                    Says(r"nvidia-smi \d{3}\.", r"cuda compilation tools"),
                ),
            ),
        ),
    ),
    commonness=3,
    unless=(
        is_("wsl", True),
        below("tensorflow", "2.11"),
        is_("gpu_vendor", "none"),
        is_("directml", "any"),
        CUDA_IN_USE,
    ),
    decide='python -c "import sys, tensorflow as tf; print(sys.platform, tf.__version__)" (win32 and 2.11 or newer?)',
    fires=(
        Case(stated=("platform=windows", "tensorflow=2.17.0", "gpu=RTX 4050 Laptop", "driver=555.99")),
        Case(
            log="v2.12.0-rc1-12-g0db597d0d75 2.12.0\nNum GPUs Available:  0", stated=("platform=Windows 11",)
        ),
    ),
    silent=(
        Case(stated=("platform=wsl2", "tensorflow=2.17")),
        Case(stated=("platform=windows", "tensorflow=2.10.1")),
    ),
)
