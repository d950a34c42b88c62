"""The container lacks the driver's compute capability."""

from steptime.diagnosis.condition import All, Any, Check, Says, Unknown, is_
from steptime.diagnosis.environment.places import CONTAINER
from steptime.diagnosis.environment.signs import CUINIT_303, LIBCUDA_LINE
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="docker-driver-capabilities",
    title="The container was not given the driver's compute part.",
    cause=(
        "The NVIDIA toolkit mounts libcuda only if NVIDIA_DRIVER_CAPABILITIES holds compute; with "
        "utility alone nvidia-smi works and CUDA does not."
    ),
    remedies=(
        Remedy(
            (
                "docker run --rm -it --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE",
                "# or in the Dockerfile: ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility",
            )
        ),
    ),
    verify=(
        "docker run --rm --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE python -c "
        "\"import ctypes; print(ctypes.CDLL('libcuda.so.1'))\""
    ),
    clues=(
        Clue(3, Check("driver_capabilities", test=lambda v: "compute" not in str(v) and "all" not in str(v))),
        Clue(
            2.6,
            All(
                Unknown("driver_capabilities"),
                Says(
                    r"driver_capabilities",
                    r"capabilities=compute",
                    r"compute capability to the flag",
                    r"\"capabilities\":? ?\[?.{0,20}(utility|compute)",
                ),
            ),
        ),
        Clue(
            2.8,
            All(CONTAINER, Any(LIBCUDA_LINE, CUINIT_303, is_("libcuda", "missing")), is_("dev_nvidia", True)),
        ),
        Clue(
            2.3,
            All(CONTAINER, Any(LIBCUDA_LINE, CUINIT_303, is_("libcuda", "missing")), is_("smi_works", True)),
        ),
        Clue(2.0, All(CONTAINER, LIBCUDA_LINE, Says(r"--gpus"))),
    ),
    commonness=1,
    unless=(is_("dev_nvidia", False),),
    consequences=("libcuda-missing", "cuda-libs-not-installed", "docker-image-cuda-mismatch"),
    decide="echo $NVIDIA_DRIVER_CAPABILITIES   # inside the container",
    clear=(
        "NVIDIA_DRIVER_CAPABILITIES gives the container the compute part.",
        Check("driver_capabilities", test=lambda v: "compute" in str(v) or "all" in str(v)),
    ),
    fires=(
        Case(
            log="Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file",
            stated=("platform=docker", "env=NVIDIA_DRIVER_CAPABILITIES=utility"),
        ),
    ),
    silent=(
        Case(
            log="Could not load dynamic library 'libcuda.so.1'",
            stated=("platform=docker", "env=NVIDIA_DRIVER_CAPABILITIES=all"),
        ),
    ),
)
