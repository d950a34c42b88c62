"""CUDA fails after suspend and resume."""

from steptime.diagnosis.condition import All, Any, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.places import LXC
from steptime.diagnosis.environment.signs import CUINIT_UNKNOWN, NO_DEVICE, NO_GPU_LISTED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="cuinit-unknown-after-suspend",
    title="CUDA stopped working after suspend and resume.",
    cause="The module nvidia_uvm is in a bad state after a resume while a process held the GPU.",
    remedies=(
        Remedy(
            (
                "sudo fuser -v /dev/nvidia*   # end the processes that hold the GPU",
                "sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm",
                "# lasting: options nvidia NVreg_PreserveVideoMemoryAllocations=1 in /etc/modprobe.d, and",
                "sudo systemctl enable nvidia-suspend nvidia-resume nvidia-hibernate",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(2.2, CUINIT_UNKNOWN),
        Clue(
            1.4, All(is_("after_suspend", True), Any(CUINIT_UNKNOWN, NO_DEVICE, NO_GPU_LISTED, Says(r"cuda")))
        ),
        Clue(1.6, is_("after_suspend", True)),
        Clue(
            2.5,
            Says(
                r"nvidia-(suspend|resume|hibernate)",
                r"preservevideomemoryallocations",
                r"rmmod nvidia_uvm",
                r"modprobe -r nvidia_uvm",
            ),
        ),
        Clue(0.3, Says(r"no gpu/tpu found")),
    ),
    commonness=2,
    unless=(
        is_("works_as_root", True),
        is_("os", "macos"),
        is_("wsl", True),
        LXC,
        is_("dev_uvm", False),
        is_("container", "docker", "kubernetes"),
    ),
    consequences=("uvm-device-missing",),
    decide="Did the machine sleep since it last worked? sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm",
    fires=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error",
            stated=("platform=linux", "note=since waking up from suspend"),
        ),
    ),
    silent=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error",
            stated=("platform=linux", "note=works with sudo"),
        ),
    ),
)
