"""The container was started without access to the GPU."""

from steptime.diagnosis.condition import All, Any, Not, Says, Unknown, is_
from steptime.diagnosis.environment.places import APPTAINER, CONTAINER, KUBERNETES, LXC
from steptime.diagnosis.environment.signs import (
    CUDART_LINE,
    CUINIT_303,
    LIBCUDA_LINE,
    NO_DEVICE,
    NO_GPU_LISTED,
    SMI_FAILED,
)
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="docker-no-gpus-flag",
    title="The container was started without access to the GPU.",
    cause=(
        "docker run without --gpus (or compose without a device reservation, or a pod without the "
        "resource limit) passes neither the devices nor libcuda into the container; docker build "
        "never does."
    ),
    remedies=(
        Remedy(
            (
                (
                    "# pod specification: resources: {limits: {nvidia.com/gpu: 1}}   (the cluster needs NVIDIA's "
                    "device plugin)"
                ),
            ),
            KUBERNETES,
        ),
        Remedy(
            (
                "docker run --rm -it --gpus all IMAGE",
                (
                    "# compose: deploy: {resources: {reservations: {devices: "
                    "[{driver: nvidia, count: all, capabilities: [gpu]}]}}}"
                ),
                "# podman: podman run --device nvidia.com/gpu=all IMAGE",
            )
        ),
    ),
    verify="docker run --rm --gpus all IMAGE nvidia-smi -L",
    clues=(
        Clue(
            2.6,
            All(
                CONTAINER,
                Any(
                    CUINIT_303,
                    LIBCUDA_LINE,
                    NO_DEVICE,
                    is_("cuinit", "unknown_303", "minus_1", "cuda_error_no_device"),
                    is_("libcuda", "missing"),
                    SMI_FAILED,
                ),
            ),
        ),
        Clue(2.6, Says(r"nvidia driver was not detected")),
        Clue(
            2.4,
            All(
                CONTAINER,
                Says(
                    r"/proc/driver/nvidia/version does not exist",
                    r"/dev/nvidia0 does not exist",
                    r"kernel driver does not appear to be running",
                ),
            ),
        ),
        Clue(2.6, All(CONTAINER, is_("dev_nvidia", False), Not(is_("wsl", True)))),
        Clue(2.8, All(CONTAINER, Says(r"unknown error \(34\)"))),
        Clue(
            2.2,
            All(
                CONTAINER,
                Says(r"(docker[- ]compose|compose (file|up)).{0,120}(gpu|cuda)"),
                Any(NO_GPU_LISTED, CUINIT_303, NO_DEVICE, CUDART_LINE, Says(r"cuinit")),
            ),
        ),
        Clue(
            2.6,
            All(
                CONTAINER,
                Says(
                    r"(without|no|missing|lacks|forgot) (a |the |any )?(gpu )?(device reservation|--gpus|gpu flag|"
                    r"gpus flag|--device nvidia|resource limit|nvidia\.com/gpu)"
                ),
            ),
        ),
        Clue(
            1.0,
            All(
                CONTAINER,
                Says(
                    r"without .{0,12}--gpus",
                    r"add(ing)? .{0,6}--gpus",
                    r"nvidia-docker run",
                    r"host has (the|a) (driver|gpu)",
                ),
            ),
        ),
        Clue(
            1.2,
            All(
                CONTAINER,
                Says(r"docker run (?!.{0,60}--(gpus|runtime))"),
                Any(CUINIT_303, LIBCUDA_LINE, NO_DEVICE, NO_GPU_LISTED, CUDART_LINE),
            ),
        ),
        Clue(2.4, All(CONTAINER, Says(r"/dev/nvidia0 does not exist"))),
        Clue(2.0, All(CONTAINER, NO_GPU_LISTED, Unknown("smi_works"))),
        Clue(
            2.1,
            All(
                CONTAINER,
                Says(r"could not find cuda drivers on your machine"),
                Unknown("cuda_toolkit"),
                Unknown("smi_works"),
            ),
        ),
    ),
    commonness=3,
    unless=(
        is_("gpu_on_pci", False),
        APPTAINER,
        LXC,
        is_("gpu_vendor", "none", "amd"),
        is_("dev_nvidia", True),
        is_("wsl", True),
    ),
    consequences=(
        "libcuda-missing",
        "no-driver-loaded",
        "cuda-visible-devices",
        "cuda-libs-not-installed",
        "uvm-device-missing",
        "wrong-cuda-major",
    ),
    decide="ls /dev/nvidia*   # inside the container; and the full docker run command",
    clear=("The container can see the GPU's devices.", All(CONTAINER, is_("dev_nvidia", True))),
    fires=(
        Case(
            log=(
                "E tensorflow/stream_executor/cuda/cuda_driver.cc:313] failed call to cuInit: UNKNOWN ERROR "
                "(303)\n/proc/driver/nvidia/version does not exist"
            ),
            stated=("platform=docker",),
        ),
        Case(
            log=(
                "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.\nUse "
                "'nvidia-docker run' to start this container"
            ),
            stated=("platform=docker",),
        ),
    ),
    silent=(Case(log="failed call to cuInit: UNKNOWN ERROR (303)", stated=("platform=linux",)),),
)
