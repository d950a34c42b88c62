"""The GPU's compute capability is below the wheel's."""

from steptime.diagnosis.condition import All, Check, Says, at_least, is_, less, more
from steptime.diagnosis.environment.commands import BUILD_INFO, TRAIN_STEP
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.releases import release_of


def _below(capability: object, tensorflow: object) -> bool | None:
    """Compare with the smallest machine code in the wheel."""
    release = release_of(str(tensorflow))
    return float(str(capability)) < release.lowest_cc if release else None


RULE = Rule(
    kind="cc-too-old",
    title="The GPU is too old for this TensorFlow: the wheel has no machine code for it.",
    cause=(
        "Wheels carry machine code from a smallest compute capability on (2.17 to 2.21: 6.0; 2.15 "
        "and 2.16: 5.0; 2.10 to 2.14: 3.5) and nothing for older cards."
    ),
    remedies=(
        Remedy(
            (
                "python -m pip install 'tensorflow[and-cuda]==2.16.2'   # Maxwell (5.x), Python 3.9 to 3.12",
                "# Kepler (3.5, 3.7): tensorflow==2.14.1 with driver 470; older cards: use the CPU",
            )
        ),
    ),
    verify=TRAIN_STEP,
    clues=(
        Clue(
            2.4,
            Says(
                r"no kernel image is available for execution",
                r"device kernel image is invalid",
                r"cudaerrornokernelimagefordevice",
                r"cuda_error_no_binary_for_gpu",
            ),
        ),
        Clue(
            3.2,
            Says(
                r"minimum required cuda capability is", r"with cuda compute capability \d\.\d.{0,20}minimum"
            ),
        ),
        Clue(2.3, Check("gpu_cc_max", "tensorflow", test=_below)),
        Clue(0.8, less("gpu_cc_max", 6.0)),
        Clue(-1.5, more("gpu_cc", 9.5)),
        Clue(2.0, All(less("gpu_cc_max", 6.0), is_("gpu_vendor", "nvidia"), is_("proof", "no kernel image"))),
    ),
    commonness=2,
    unless=(is_("gpu_vendor", "amd", "none"), All(WINDOWS, at_least("tensorflow", "2.11"))),
    consequences=("gpu-calculation-failed",),
    decide="nvidia-smi --query-gpu=name,compute_cap --format=csv; " + BUILD_INFO,
    clear=(
        "The wheel has machine code for this GPU.",
        Check("gpu_cc_max", "tensorflow", test=lambda cc, tf: _below(cc, tf) is False),
    ),
    fires=(
        Case(
            log=(
                "Ignoring visible gpu device (device: 0, name: GeForce GT 730) with Cuda compute capability "
                "3.0. The minimum required Cuda capability is 3.5."
            ),
            stated=("platform=linux",),
        ),
        Case(stated=("platform=linux", "gpu=GTX 960M", "tensorflow=2.18")),
    ),
    silent=(Case(stated=("platform=linux", "gpu=GTX 1080", "tensorflow=2.21")),),
)
