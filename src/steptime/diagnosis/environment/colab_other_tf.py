"""Colab with another TensorFlow than its image brings."""

from steptime.diagnosis.condition import All, Any, Says, below, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.signs import CUDART_LINE, CUDNN_MISMATCH, NO_GPU_LISTED, SKIPPED_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="colab-other-tf",
    title="Colab's TensorFlow was replaced by a version that does not fit its CUDA.",
    cause=(
        "The hosted runtime has one CUDA; an older TensorFlow wants another one (2.4 to 2.14: CUDA "
        "11) and finds no GPU."
    ),
    remedies=(
        Remedy(
            (
                "# use the TensorFlow that Colab ships: Runtime > Disconnect and delete runtime, and install nothing",
                (
                    "!pip install 'tensorflow[and-cuda]==2.18.*'   # a version from 2.15.1 on, with its own "
                    "CUDA; then Runtime > Restart session"
                ),
                "# older than 2.15: use a local environment with that release's Python and CUDA",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            2.6,
            All(
                is_("hosted", "colab"),
                Says(
                    r"pip3? install .{0,60}tensorflow(-gpu)?.{0,12}=",
                    r"tensorflow=?=[12]\.",
                    r"another tensorflow",
                    r"downgrad",
                    r"older tensorflow",
                    r"%tensorflow_version",
                ),
            ),
        ),
        Clue(1.6, All(is_("hosted", "colab"), below("tensorflow", "2.15"))),
        Clue(
            0.7,
            All(
                is_("hosted", "colab"),
                Any(NO_GPU_LISTED, CUDART_LINE, SKIPPED_GPUS, Says(r"gpu device not found")),
            ),
        ),
        Clue(2.0, All(is_("hosted", "colab"), Any(CUDART_LINE, SKIPPED_GPUS, Says(r"gpu device not found")))),
        Clue(0.5, All(is_("hosted", "colab"), is_("gpu_vendor", "nvidia"))),
    ),
    commonness=2,
    unless=(is_("os", "windows", "macos"), CUDNN_MISMATCH),
    consequences=("cuda-libs-not-installed", "wrong-cuda-major", "and-cuda-libs-not-found"),
    decide=(
        "Was another TensorFlow installed in this Colab session? (!pip list | grep -i tensorflow in "
        "a fresh runtime)"
    ),
    fires=(
        Case(
            log="!pip install tensorflow==2.9.0\nSystemError: GPU device not found",
            stated=("platform=colab",),
        ),
    ),
    silent=(Case(log="!pip install tensorflow==2.9.0", stated=("platform=windows",)),),
)
