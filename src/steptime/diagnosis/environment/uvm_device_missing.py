"""The device node /dev/nvidia-uvm is not there or not usable."""

from steptime.diagnosis.condition import All, Any, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.places import CONTAINER, LXC
from steptime.diagnosis.environment.signs import CUINIT_UNKNOWN, NO_DEVICE
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="uvm-device-missing",
    title="The device node /dev/nvidia-uvm is not there or can't be used.",
    cause=(
        "CUDA needs it, and an ordinary user's process can make it only with the set-uid helper "
        "nvidia-modprobe; inside LXC and containers it must exist before they start."
    ),
    remedies=(
        Remedy(
            (
                "nvidia-modprobe -c 0 -u   # on the host, at boot, before the container starts",
                (
                    "# container configuration: pass /dev/nvidia-uvm and /dev/nvidia-uvm-tools through, and "
                    "allow their device major number (ls -l /dev/nvidia-uvm)"
                ),
            ),
            LXC,
        ),
        Remedy(("sudo nvidia-modprobe -c 0 -u   # on the host, then start the container again",), CONTAINER),
        Remedy(
            (
                "sudo apt install nvidia-modprobe && sudo nvidia-modprobe -c 0 -u",
                "sudo systemctl enable --now nvidia-persistenced   # makes the nodes at boot",
            )
        ),
    ),
    verify="ls -l /dev/nvidia-uvm && " + LIST_GPUS,
    clues=(
        Clue(2.4, Any(CUINIT_UNKNOWN, is_("cuinit", "cuda_error_unknown"))),
        Clue(
            2.2, All(is_("dev_uvm", False), is_("kernel_module", "none"), is_("cuinit", "cuda_error_unknown"))
        ),
        Clue(2.5, All(is_("dev_uvm", False), is_("dev_nvidia", True))),
        Clue(
            2.8,
            Says(
                r"nvidia-uvm.{0,20}(no such file|not found|missing|does not exist)",
                r"(no|missing|create|cannot (access|stat|open)|could not load).{0,20}(/dev/nvidia-)?uvm",
            ),
        ),
        Clue(1.6, Says(r"nvidia[-_]uvm", r"nvidia-modprobe")),
        Clue(2.0, NO_DEVICE),
        Clue(1.2, LXC),
        Clue(1.2, is_("works_as_root", True)),
        Clue(1.0, All(is_("works_as_root", True), Any(NO_DEVICE, CUINIT_UNKNOWN))),
        Clue(
            2.0,
            Says(
                r"(after|until|once).{0,30}run\w{0,4} .{0,40}(as root|with sudo)",
                r"sudo .{0,60}(cures|fixes|works|helps)",
            ),
        ),
    ),
    commonness=2,
    unless=(
        is_("os", "windows", "macos"),
        is_("wsl", True),
        is_("dev_uvm", True),
        is_("gpu_vendor", "none", "amd"),
        is_("after_suspend", True),
    ),
    consequences=("cuda-visible-devices",),
    decide="ls -l /dev/nvidia*; sudo nvidia-modprobe -c 0 -u   # does the node appear and the GPU with it?",
    clear=("The device node /dev/nvidia-uvm is there.", is_("dev_uvm", True)),
    fires=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error",
            stated=("platform=linux", "env=works with sudo"),
        ),
        Case(
            log="failed call to cuInit: CUDA_ERROR_NO_DEVICE",
            stated=("platform=lxc", "env=/dev/nvidia-uvm missing"),
        ),
    ),
    silent=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error",
            stated=("platform=linux", "note=after resume from suspend"),
        ),
    ),
)
