"""The nouveau driver holds the GPU."""

from steptime.diagnosis.condition import All, Any, Says, is_
from steptime.diagnosis.environment.commands import REBOOT
from steptime.diagnosis.environment.signs import SMI_FAILED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="nouveau-owns-gpu",
    title="The open driver nouveau holds the GPU.",
    cause="nouveau bound the device first, so the NVIDIA module can't take it.",
    remedies=(
        Remedy(
            (
                (
                    "printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee "
                    "/etc/modprobe.d/blacklist-nouveau.conf"
                ),
                "sudo update-initramfs -u   # Fedora, RHEL: sudo dracut --force",
                REBOOT,
            )
        ),
    ),
    verify="lsmod | grep nouveau; nvidia-smi   # no nouveau, and a table",
    clues=(
        Clue(
            3.6,
            Says(
                r"nvrm: ?the nvidia probe routine was not called",
                r"nvrm: ?nouveau",
                r"nouveau.{0,80}obtained ownership",
                r"driver in use: nouveau",
                r"nouveau kernel driver is currently in use",
                r"lsmod.{0,60}nouveau",
            ),
        ),
        Clue(
            2.8,
            All(is_("nouveau", True), Any(is_("kernel_module", "none"), SMI_FAILED, is_("smi_works", False))),
        ),
        Clue(1.0, Says(r"nouveau")),
        Clue(1.4, All(Says(r"nouveau"), SMI_FAILED)),
        Clue(2.0, SMI_FAILED),
    ),
    commonness=1,
    unless=(is_("nouveau", False), is_("os", "windows", "macos")),
    consequences=("no-driver-loaded",),
    decide="lsmod | grep nouveau",
    clear=("nouveau is not loaded.", All(is_("gpu_on_pci", True), is_("nouveau", False))),
    fires=(
        Case(
            log=(
                "[  12.3] NVRM: The NVIDIA probe routine was not called for 1 device(s).\nNVRM: nouveau, "
                "rivafb, nvidiafb or rivatv"
            ),
            stated=("platform=linux",),
        ),
    ),
    silent=(
        Case(
            log="NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
            stated=("platform=linux", "nouveau=no"),
        ),
    ),
)
