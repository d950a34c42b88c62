"""The CUDA build of TensorFlow without any CUDA libraries."""

from steptime.diagnosis.condition import All, Any, Check, Says, Unknown, is_
from steptime.diagnosis.environment.commands import INSTALL, LIST_GPUS
from steptime.diagnosis.environment.places import CONTAINER
from steptime.diagnosis.environment.signs import CUDART_LINE, NO_GPU_LISTED, SKIPPED_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="cuda-libs-not-installed",
    title="TensorFlow is there, the CUDA libraries it needs are not.",
    cause=(
        "pip install tensorflow on Linux installs the CUDA build but not CUDA. The line about "
        "missing CUDA drivers is misleading: it is printed when libcudart can't be opened, even if "
        "the driver is fine."
    ),
    remedies=(
        Remedy(
            (
                (
                    "# give the container the libraries: base it on tensorflow/tensorflow:latest-gpu, or in the "
                    "Dockerfile:"
                ),
                "RUN python -m pip install 'tensorflow[and-cuda]'",
            ),
            CONTAINER,
        ),
        Remedy(
            (
                INSTALL
                + "   # in the environment that runs the program; up to 2.13 there is no such extra: upgrade",
                "# no system-wide CUDA toolkit is needed, only the driver",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(2.1, CUDART_LINE),
        Clue(2.05, SKIPPED_GPUS),
        Clue(0.5, is_("cudart", "missing")),
        Clue(2.4, All(is_("cudart", "missing"), is_("tensorflow_build", "cuda"), is_("cuinit", "ok"))),
        Clue(
            2.2, All(is_("cudart", "missing"), is_("tensorflow_build", "cuda"), is_("gpu_vendor", "nvidia"))
        ),
        Clue(
            2.2,
            Says(
                r"no libcudart",
                r"pip install tensorflow(?!\[|[-_=\w]).{0,200}list_physical_devices.{0,40}\[\]",
            ),
        ),
        Clue(
            2.4,
            All(
                Says(
                    r"no nvidia-.{1,12}-cu1\d",
                    r"without (any )?nvidia-.{1,12}-cu1\d",
                    r"(no|without) (nvidia )?cuda (wheels|libraries|runtime)",
                ),
                Any(CUDART_LINE, SKIPPED_GPUS, NO_GPU_LISTED),
            ),
        ),
        Clue(
            0.4,
            Says(
                r"no nvidia-.{1,12}-cu1\d", r"without (the )?(cuda|\[?and-cuda)", r"cuda (is )?not installed"
            ),
        ),
        Clue(
            2.0,
            All(
                is_("os", "linux"),
                NO_GPU_LISTED,
                Any(Unknown("container"), is_("container", "none")),
                Any(Unknown("hosted"), is_("hosted", "none")),
                Unknown("cuinit"),
            ),
        ),
        Clue(-0.6, Check("cuinit", test=lambda code: str(code) not in {"ok", "unknown_303", "minus_1"})),
        Clue(-1, Check("nvidia_wheels", test=lambda wheels: any("runtime" in w for w in wheels))),
    ),
    commonness=3,
    unless=(
        is_("os", "windows", "macos"),
        is_("gpu_vendor", "none", "amd", "apple"),
        Check("cudart", test=lambda found: found in {"wheel", "path"}),
        is_("tensorflow_build", "cpu", "rocm"),
    ),
    decide="python -m pip list | grep nvidia   # no nvidia-cuda-runtime: the libraries are not installed",
    clear=("The CUDA runtime library that TensorFlow wants is found.", is_("cudart", "wheel", "path")),
    fires=(
        Case(
            log=(
                "I0000 00:00:1796051593.440782 25568 cudart_stub.cc:31] Could not find cuda drivers on your "
                "machine, GPU will not be used."
            ),
            stated=("platform=linux", "tensorflow=2.20", "gpu=A100"),
        ),
    ),
    silent=(
        Case(
            log="Could not find cuda drivers on your machine, GPU will not be used.",
            stated=("platform=linux", "gpu=none"),
        ),
    ),
)
