"""The CUDA of the container's image does not fit TensorFlow."""

from steptime.diagnosis.condition import All, Any, Check, Says, at_least, is_
from steptime.diagnosis.environment.commands import BUILD_INFO, DOCKER_RUN
from steptime.diagnosis.environment.places import CONTAINER
from steptime.diagnosis.environment.signs import CUDART_LINE, CUDNN_MISMATCH, NO_GPU_LISTED, SKIPPED_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.releases import cuda_major
from steptime.environment.versions import numbers


def _differs(toolkit: object, tensorflow: object) -> bool | None:
    """Compare CUDA's major version with the one TensorFlow opens."""
    wanted = cuda_major(str(tensorflow))
    have = numbers(str(toolkit))
    return have[0] != wanted if wanted and have else None


RULE = Rule(
    kind="docker-image-cuda-mismatch",
    title="The CUDA or cuDNN in the container's image does not fit the TensorFlow in it.",
    cause=(
        "The Dockerfile pairs some CUDA image with the newest TensorFlow of pip; library names carry "
        "CUDA's version, so TensorFlow finds nothing or an older cuDNN."
    ),
    remedies=(
        Remedy(
            (
                "FROM python:3.12-slim   # a plain base: the wheels bring CUDA and cuDNN themselves",
                "RUN python -m pip install 'tensorflow[and-cuda]'",
                "# or use a ready image: docker run --rm -it --gpus all tensorflow/tensorflow:latest-gpu bash",
            )
        ),
    ),
    verify=DOCKER_RUN,
    clues=(
        Clue(2.6, All(CONTAINER, CUDNN_MISMATCH)),
        Clue(2.4, All(CONTAINER, Any(CUDART_LINE, SKIPPED_GPUS))),
        Clue(1.0, All(CONTAINER, Check("cuda_toolkit", "tensorflow", test=_differs))),
        Clue(
            0.6, All(CONTAINER, Says(r"nvidia/cuda:", r"cuda version \d\d\.\d", r"dockerfile", r"cuda-base"))
        ),
        Clue(
            2.4,
            All(
                CONTAINER,
                Says(r"nvidia/cuda:", r"from nvidia", r"^from.{0,30}cuda"),
                Check("cuda_toolkit", "tensorflow", test=_differs),
            ),
        ),
        Clue(2.1, All(CONTAINER, is_("smi_works", True), NO_GPU_LISTED)),
        Clue(
            3.3,
            All(
                CONTAINER,
                Check(
                    "cuda_toolkit",
                    "cuda_wanted",
                    test=lambda have, want: numbers(str(have))[:1] != numbers(str(want))[:1],
                ),
            ),
        ),
        Clue(2.0, All(CONTAINER, Check("cuda_wanted", test=lambda _: True))),
        Clue(2.2, All(CONTAINER, Says(r"tensorflow/tensorflow:\d\.\d{1,2}\.\d.{0,10}-gpu"), Says(r"--gpus"))),
        Clue(
            2.0,
            All(
                CONTAINER,
                Says(r"image.{0,60}(cuda|cudnn) \d", r"(rebuild\w{0,3}|chang\w{1,3}) .{0,30}(image|base)"),
            ),
        ),
    ),
    commonness=2,
    unless=(
        is_("gpu_vendor", "none", "amd"),
        is_("dev_nvidia", False),
        is_("cudart", "wheel", "path"),
        is_("cuinit", "unknown_303", "minus_1"),
        is_("smi_works", False),
        at_least("cudnn_wheel", "9.3"),
    ),
    consequences=(
        "cuda-libs-not-installed",
        "and-cuda-libs-not-found",
        "wrong-cuda-major",
        "cuda-lib-not-found",
    ),
    decide="Inside the container: " + BUILD_INFO + " and ls /usr/local | grep cuda",
    fires=(
        Case(
            log="Could not find cuda drivers on your machine, GPU will not be used.",
            stated=("platform=docker (nvidia/cuda:12.1.1-base)", "tensorflow=2.13", "cuda=12.1.1"),
        ),
    ),
    silent=(
        Case(
            log="Could not find cuda drivers on your machine, GPU will not be used.",
            stated=("platform=linux", "tensorflow=2.13", "cuda=12.1.1"),
        ),
    ),
)
