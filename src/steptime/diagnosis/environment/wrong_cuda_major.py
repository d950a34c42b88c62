"""A CUDA toolkit of another version than TensorFlow wants."""

from steptime.diagnosis.condition import All, Any, Check, Says, Unknown, at_least, is_
from steptime.diagnosis.environment.commands import BUILD_INFO, INSTALL, LIST_GPUS, WSL_STEPS
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.environment.signs import CUDART_LINE, NO_GPU_LISTED, SKIPPED_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.releases import cuda_major
from steptime.environment.versions import compare, numbers


def _differs(toolkit: object, tensorflow: object) -> bool | None:
    """Library names carry CUDA's major version; before CUDA 11 also its minor one."""
    wanted = cuda_major(str(tensorflow))
    have = numbers(str(toolkit))
    if wanted is None or not have:
        return None
    if have[0] == wanted == 10 and len(have) > 1:
        return have[1] != (1 if compare(str(tensorflow), "2.1") >= 0 else 0)
    return have[0] != wanted


RULE = Rule(
    kind="wrong-cuda-major",
    title="The installed CUDA is of another version than this TensorFlow was built for.",
    cause=(
        "Names of CUDA libraries carry the version (libcudart.so.11.0, .12, .13): TensorFlow 2.15 to "
        "2.21 opens CUDA 12 only, 2.4 to 2.14 CUDA 11, older ones CUDA 10. What nvidia-smi shows as "
        "CUDA Version is only what the driver could run."
    ),
    remedies=(
        Remedy(
            ("# native Windows with TensorFlow 2.10: CUDA 11.2 and cuDNN 8.1; better: WSL2", *WSL_STEPS),
            WINDOWS,
        ),
        Remedy(
            (
                INSTALL + "   # brings the matching CUDA 12 set; leave the system's CUDA alone",
                "# an old TensorFlow (up to 2.13) needs its own CUDA: 11.8 for 2.12 and 2.13, 11.2 for 2.5 to 2.11",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            2,
            All(
                Check("cuda_toolkit", "tensorflow", test=_differs),
                Any(CUDART_LINE, SKIPPED_GPUS, NO_GPU_LISTED),
            ),
        ),
        Clue(
            3.3,
            Check(
                "cuda_toolkit",
                "cuda_wanted",
                test=lambda have, want: (
                    numbers(str(have))[:1] != numbers(str(want))[:1]
                    or (numbers(str(want))[:1] < (11,) and compare(str(have), str(want)) != 0)
                ),
            ),
        ),
        Clue(1.0, All(Check("cuda_toolkit", "tensorflow", test=_differs), Unknown("tensorflow_gpus"))),
        Clue(1.4, CUDART_LINE),
        Clue(1.0, SKIPPED_GPUS),
        Clue(
            2.6,
            Says(
                r"importerror: libcu(blas|dart|sparse|dnn|fft)\w{0,6}\.so\.\d{1,2}(\.\d)?: cannot open",
                r"only libcudart\.so\.1\d",
                r"but (found|have|installed) cuda 1\d",
                r"requires? cuda 1?\d(\.\d)?.{0,60}(have|installed|found|but)",
            ),
        ),
        Clue(
            0.8,
            All(Says(r"could not load dynamic library 'libcudart\.so\.(8|9|10)"), Unknown("cuda_toolkit")),
        ),
        Clue(
            2.2,
            Check(
                "cuda_toolkit",
                "tensorflow_cuda",
                "cudart",
                test=lambda kit, built, found: (
                    numbers(str(kit))[:1] != numbers(str(built))[:1] and found == "missing"
                ),
            ),
        ),
    ),
    commonness=3,
    unless=(
        is_("gpu_vendor", "none", "amd", "apple"),
        All(WINDOWS, at_least("tensorflow", "2.11")),
        is_("cudart", "wheel", "path"),
        is_("container", "docker", "podman", "kubernetes"),
        is_("hosted", "colab", "kaggle"),
        Check("cuda_toolkit", "tensorflow", test=lambda kit, tf: _differs(kit, tf) is False),
    ),
    consequences=("cuda-libs-not-installed", "and-cuda-libs-not-found", "cuda-lib-not-found"),
    decide="ldconfig -p | grep libcudart   # and: " + BUILD_INFO,
    fires=(
        Case(
            log="Could not find cuda drivers on your machine, GPU will not be used.",
            stated=("platform=linux", "tensorflow=2.13.1", "cuda=12.4", "gpu=RTX 4090"),
        ),
    ),
    silent=(
        Case(
            log="Could not find cuda drivers on your machine, GPU will not be used.",
            stated=("platform=linux", "tensorflow=2.18", "cuda=12.4", "gpu=RTX 4090"),
        ),
    ),
)
