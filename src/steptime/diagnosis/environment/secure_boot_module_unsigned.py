"""Secure Boot refuses the NVIDIA module."""

from steptime.diagnosis.condition import All, Any, Check, Says, is_
from steptime.diagnosis.environment.signs import SMI_FAILED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="secure-boot-module-unsigned",
    title="Secure Boot refuses to load the NVIDIA kernel module.",
    cause=(
        "Under Secure Boot the kernel loads signed modules only; a module that DKMS built is signed "
        "with a key that must be enrolled first."
    ),
    remedies=(
        Remedy(
            (
                (
                    "sudo mokutil --import /var/lib/shim-signed/mok/MOK.der   # set a password, reboot, choose "
                    "'Enroll MOK' on the blue screen"
                ),
                "# or install the distribution's signed driver package, or turn Secure Boot off in the firmware",
            )
        ),
    ),
    verify="mokutil --sb-state; lsmod | grep nvidia; nvidia-smi",
    clues=(
        Clue(
            3.6,
            Says(
                r"key was rejected by service",
                r"required key not available",
                r"module verification failed",
                r"loading of unsigned module",
                r"pkcs#7 signature not signed with a trusted key",
            ),
        ),
        Clue(2.0, SMI_FAILED),
        Clue(1.5, is_("secure_boot", True)),
        Clue(
            2.6,
            All(
                is_("secure_boot", True),
                Any(SMI_FAILED, is_("kernel_module", "none"), is_("smi_works", False)),
            ),
        ),
        Clue(
            2.4,
            Says(
                r"(disabl\w{1,3}|turn\w{0,3} off) (the )?(uefi )?secure ?boot",
                r"secure ?boot .{0,40}(enabled|on|problem|cause|off)",
                r"mokutil",
                r"enroll?\w{0,3} (the )?(mok|key)",
            ),
        ),
    ),
    commonness=1,
    unless=(
        is_("os", "windows", "macos"),
        is_("wsl", True),
        is_("secure_boot", False),
        Check("kernel_module", test=lambda v: str(v) != "none"),
    ),
    consequences=("no-driver-loaded",),
    decide="mokutil --sb-state; sudo dmesg | grep -i -e 'key was rejected' -e 'module verification'",
    clear=(
        "Secure Boot does not keep the NVIDIA module out.",
        All(is_("gpu_on_pci", True), is_("secure_boot", False)),
    ),
    fires=(
        Case(
            log=(
                "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service\nNVIDIA-SMI has "
                "failed because it couldn't communicate with the NVIDIA driver."
            ),
            stated=("platform=linux",),
        ),
    ),
    silent=(
        Case(
            log="NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
            stated=("platform=linux", "secure_boot=no"),
        ),
    ),
)
