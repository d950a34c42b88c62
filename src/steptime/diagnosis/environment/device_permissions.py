"""The user may not open the GPU's device nodes."""

from steptime.diagnosis.condition import All, Any, Not, Says, is_
from steptime.diagnosis.environment.places import CONTAINER
from steptime.diagnosis.environment.signs import CUINIT_UNKNOWN, NO_DEVICE
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="device-permissions",
    title="This user may not open /dev/nvidia*.",
    cause=(
        "The device nodes belong to a group (video or render) that the user, or the user inside the "
        "container, is not in."
    ),
    remedies=(
        Remedy(
            (
                "docker run --rm -it --gpus all --group-add $(stat -c %g /dev/nvidia0) IMAGE   # or run as root inside",
            ),
            CONTAINER,
        ),
        Remedy(("ls -l /dev/nvidia*", "sudo usermod -aG video,render $USER   # then log in again")),
    ),
    verify="python -c \"import os; print(os.access('/dev/nvidia0', os.R_OK | os.W_OK))\"",
    clues=(
        Clue(
            3.2,
            Says(
                r"failed to initialize nvml: insufficient permissions",
                r"permission denied.{0,60}/dev/nvidia",
                r"/dev/nvidia.{0,12}.{0,40}permission denied",
                r"nvml.{0,40}insufficient permissions",
                r"nvidia.{0,60}permission denied",
            ),
        ),
        Clue(2.6, All(is_("dev_access", False), Not(is_("dev_nvidia", False)))),
        Clue(2.2, All(is_("dev_access", False), Any(NO_DEVICE, CUINIT_UNKNOWN))),
    ),
    commonness=1,
    unless=(is_("os", "windows", "macos"),),
    consequences=("uvm-device-missing", "cuda-visible-devices", "no-driver-loaded"),
    decide="ls -l /dev/nvidia*; id",
    clear=("This user may open the GPU's device nodes.", is_("dev_access", True)),
    fires=(Case(log="Failed to initialize NVML: Insufficient Permissions", stated=("platform=docker",)),),
    silent=(Case(log="CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", stated=("platform=docker",)),),
)
