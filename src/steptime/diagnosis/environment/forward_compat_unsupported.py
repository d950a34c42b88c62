"""CUDA's forward compatibility on a card that does not allow it."""

from steptime.diagnosis.condition import Any, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.places import CONTAINER
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="forward-compat-unsupported",
    title="CUDA's forward compatibility package is used on a card that does not allow it.",
    cause=(
        "A newer libcuda of the cuda-compat package is loaded (usual in containers); that works on "
        "data-centre cards only. A mixed driver installation shows the same error."
    ),
    remedies=(
        Remedy(
            (
                (
                    "sudo ubuntu-drivers install && sudo reboot   # on the host: at least the driver that the "
                    "image's CUDA needs"
                ),
                "# or in the image: rm -rf /usr/local/cuda/compat && ldconfig",
            ),
            CONTAINER,
        ),
        Remedy(
            (
                (
                    "cat /proc/driver/nvidia/version; ldconfig -p | grep libcuda.so   # the versions must agree: "
                    "if not, sudo reboot"
                ),
                "# and take /usr/local/cuda/compat out of LD_LIBRARY_PATH and /etc/ld.so.conf.d",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3,
            Says(
                r"cuda_error_compat_not_supported",
                r"forward compatibility was attempted on non supported hw",
                r"error 804",
                r"cudaerrorcompatnotsupported",
            ),
        ),
        Clue(3, is_("cuinit", "cuda_error_compat_not_supported_on_device")),
        Clue(0.4, Any(CONTAINER, Says(r"/compat"))),
    ),
    commonness=1,
    decide="cat /proc/driver/nvidia/version; ls /usr/local/cuda/compat 2>/dev/null",
    consequences=("uvm-device-missing", "cuda-visible-devices", "cuda-libs-not-installed"),
    fires=(
        Case(
            log=(
                "failed call to cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was "
                "attempted on non supported HW"
            ),
            stated=("platform=docker",),
        ),
    ),
    silent=(
        Case(
            log=(
                "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE\nkernel version 460.91.3 does not match DSO "
                "version 470.57.2"
            ),
            stated=("platform=linux",),
        ),
    ),
)
