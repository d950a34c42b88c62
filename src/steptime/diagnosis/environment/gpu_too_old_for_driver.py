"""The driver's branch does not support this card."""

from steptime.diagnosis.condition import All, Any, Check, Says, Unknown, is_, less
from steptime.diagnosis.environment.commands import SMI
from steptime.diagnosis.environment.places import BLACKWELL
from steptime.diagnosis.environment.signs import SMI_FAILED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.versions import numbers


def _dropped(capability: object, driver: object) -> bool:
    """Last branches: Fermi 390, Kepler 470, Maxwell to Volta 580; Blackwell needs 570 or newer."""
    cc, branch = float(str(capability)), numbers(str(driver))[0]
    return (
        (cc < 3 and branch > 390)
        or (cc < 5 and branch > 470)
        or (cc < 7.5 and branch > 580)
        or (cc >= 10 and branch < 570)
    )


RULE = Rule(
    kind="gpu-too-old-for-driver",
    title="The installed driver's branch does not support this card.",
    cause=(
        "Each driver branch drops old families (390 is the last for Fermi, 470 for Kepler, 580 for "
        "Maxwell, Pascal and Volta), and a new card needs a new branch (Blackwell: 570 or newer, "
        "open kernel modules)."
    ),
    remedies=(
        Remedy(("sudo apt install nvidia-driver-570-open && sudo reboot   # or a newer branch",), BLACKWELL),
        Remedy(
            (
                (
                    "sudo ubuntu-drivers list   # install the branch that supports the card: 470 for Kepler, 580 "
                    "for Maxwell to Volta"
                ),
                "# cards older than Pascal can't run current TensorFlow anyway: use the CPU or another card",
            )
        ),
    ),
    verify=SMI,
    clues=(
        Clue(
            3.4,
            Says(
                r"nvidia \d{3}\.xx legacy drivers",
                r"legacy driver",
                r"is not supported by the .{0,20} ?nvidia driver",
                r"nvrm:.{0,80}(is supported through|will ignore this gpu|not supported by)",
                r"supported through the nvidia \d{3}",
                r"requires use of the nvidia open kernel modules",
                r"nvrm:.{0,60}no nvidia (gpu|graphics adapter)(?! probed).{0,40}supported",
                r"(card|gpu) (is )?(too old|no longer supported|not supported).{0,40}driver",
                r"driver.{0,60}(drops|dropped|no longer supports)",
            ),
        ),
        Clue(2.0, All(SMI_FAILED, Any(Unknown("driver"), Unknown("gpu_cc_max")))),
        Clue(1.5, Check("gpu_cc_max", "driver", test=_dropped)),
        Clue(
            1.0,
            All(
                Check("gpu_cc_max", "driver", test=_dropped),
                Any(SMI_FAILED, is_("kernel_module", "none"), Says(r"no devices were found")),
            ),
        ),
        Clue(1.0, All(less("gpu_cc_max", 3.5), SMI_FAILED)),
    ),
    commonness=0,
    consequences=("no-driver-loaded",),
    decide=(
        "sudo dmesg | grep NVRM; lspci | grep -i nvidia   # does the kernel log say that the card "
        "needs a legacy driver?"
    ),
    clear=(
        "The driver's branch supports this card.",
        Check("gpu_cc_max", "driver", test=lambda cc, driver: not _dropped(cc, driver)),
    ),
    fires=(
        Case(
            log=(
                "NVRM: The NVIDIA GeForce GT 710 GPU installed in this system is supported through the "
                "NVIDIA 470.xx Legacy drivers.\nNVIDIA-SMI has failed because it couldn't communicate with "
                "the NVIDIA driver."
            ),
            stated=("platform=linux",),
        ),
    ),
    silent=(
        Case(
            log="NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
            stated=("platform=linux", "gpu=RTX 3090", "driver=535"),
        ),
    ),
)
