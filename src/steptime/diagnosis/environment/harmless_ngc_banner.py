"""The line that no NVIDIA driver was detected, although the GPU works."""

from steptime.diagnosis.condition import All, Any, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="harmless-ngc-banner",
    title="NVIDIA's image says that no driver was detected, although the GPU works: harmless.",
    cause=(
        "The start script of NVIDIA's images looks for a Linux kernel driver, which WSL2 does not "
        "have; believe nvidia-smi and the list of devices instead."
    ),
    remedies=(Remedy(("# nothing to do if nvidia-smi in the container lists the card",)),),
    verify="nvidia-smi && " + LIST_GPUS,
    clues=(
        Clue(
            1,
            Says(
                r"the nvidia driver was not detected(\. ?gpu functionality will not be available)?",
                r"use 'nvidia-docker run' to start this container",
                r"use the nvidia container toolkit to start this container",
            ),
        ),
        Clue(
            1.2,
            All(
                Says(r"nvidia driver was not detected"),
                Any(
                    is_("wsl", True),
                    is_("smi_works", True),
                    is_("dev_dxg", True),
                    Says(
                        r"\| nvidia-smi \d{3}\.",
                        r"/dev/dxg",
                        r"created device .{0,60}device:gpu:0",
                        r"physical_device:gpu:0",
                    ),
                ),
            ),
        ),
    ),
    commonness=1,
    harmless=True,
    fires=(
        Case(
            log="WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.",
            stated=("platform=docker on WSL2",),
        ),
    ),
    silent=(
        Case(
            log="WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.",
            stated=("platform=docker",),
        ),
    ),
)
