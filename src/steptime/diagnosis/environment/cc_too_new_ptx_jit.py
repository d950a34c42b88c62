"""The GPU is newer than the machine code in the wheel."""

from steptime.diagnosis.condition import All, Check, Says, at_least, is_, more
from steptime.diagnosis.environment.commands import TRAIN_STEP
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.releases import release_of
from steptime.environment.versions import compare


def _above(capability: object, tensorflow: object) -> bool | None:
    """Compare with the largest machine code that the wheel has for every kernel."""
    release = release_of(str(tensorflow))
    if release is None:
        return None
    newest = 9.0 if compare(release.name, "2.16") >= 0 else 8.99
    return float(str(capability)) > newest


RULE = Rule(
    kind="cc-too-new-ptx-jit",
    title="The GPU is newer than the machine code in the wheel: the first start compiles for minutes.",
    cause=(
        "There is no machine code for this GPU, so the driver compiles the kernels' PTX at first use,"
        " again in each process until its cache is large enough."
    ),
    remedies=(
        Remedy(
            (
                (
                    "export CUDA_CACHE_MAXSIZE=4294967296 CUDA_CACHE_PATH=$HOME/.nv/ComputeCache   # keeps what "
                    "was compiled"
                ),
                (
                    "python -m pip install --upgrade 'tensorflow[and-cuda]'   # Hopper: 2.16 or newer; "
                    "Blackwell: 2.21 or newer, driver 570 or newer"
                ),
                "unset CUDA_FORCE_PTX_JIT",
            )
        ),
    ),
    verify=TRAIN_STEP + "   # run it twice: the second must start at once",
    clues=(
        Clue(
            2.6,
            Says(
                r"was not built with cuda kernel binaries compatible with compute capability",
                r"jit-compiled from ptx",
                r"could take 30 minutes or longer",
            ),
        ),
        Clue(2.1, Check("gpu_cc_max", "tensorflow", test=_above)),
        Clue(
            2.0,
            All(
                more("gpu_cc_max", 8.95),
                Says(r"(slow|long|minutes|forever|hang).{0,60}(start|first|load|init)"),
            ),
        ),
    ),
    commonness=2,
    unless=(is_("os", "macos"), All(WINDOWS, at_least("tensorflow", "2.11"))),
    decide="Does the first step end after some minutes (this kind) or fail?",
    slow=True,
    fires=(
        Case(
            log=(
                "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0. "
                "CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer."
            ),
            stated=("platform=linux", "gpu=H100", "tensorflow=2.15"),
        ),
    ),
    silent=(Case(stated=("platform=linux", "gpu=A100", "tensorflow=2.15")),),
)
