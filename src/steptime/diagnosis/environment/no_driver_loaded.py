"""No NVIDIA kernel driver is running."""

from steptime.diagnosis.condition import All, Any, Check, Not, Says, Unknown, is_
from steptime.diagnosis.environment.commands import REBOOT, SMI
from steptime.diagnosis.environment.places import CONTAINER, WSL
from steptime.diagnosis.environment.signs import CUINIT_303, NO_DEVICE, SMI_FAILED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="no-driver-loaded",
    title="No NVIDIA kernel driver is running.",
    cause=(
        "The driver is not installed, its module was not built for the running kernel (after a "
        "kernel upgrade), or it was not loaded."
    ),
    remedies=(
        Remedy(
            (
                (
                    "# in WSL the driver is the one of Windows: install it there, remove Linux driver packages "
                    "inside WSL, then:"
                ),
                "wsl --update && wsl --shutdown   # in PowerShell",
            ),
            WSL,
        ),
        Remedy(
            (
                "nvidia-smi   # on the host: it must work there first",
                "docker run --rm --gpus all IMAGE nvidia-smi",
            ),
            CONTAINER,
        ),
        Remedy(
            (
                (
                    "sudo apt install linux-headers-$(uname -r) && sudo ubuntu-drivers install   # Ubuntu; "
                    "elsewhere the distribution's driver package"
                ),
                "dkms status; lsmod | grep -e nvidia -e nouveau; mokutil --sb-state",
                REBOOT,
            )
        ),
    ),
    verify=SMI,
    clues=(
        Clue(2.5, SMI_FAILED),
        Clue(
            3,
            Says(
                r"kernel driver does not appear to be running",
                r"nvidia-smi has failed because you do not have",
            ),
        ),
        Clue(
            2.2,
            Says(
                r"/proc/driver/nvidia/version does not exist",
                r"failed to initialize nvml: driver not loaded",
                r"modprobe: (fatal|error).{0,60}nvidia",
                r"no such file or directory.{0,60}/proc/driver/nvidia",
                r"nvidia driver (is )?not loaded",
                r"found no nvidia driver on your system",
                r"verify that your gpu is supported.{0,60}driver",
                r"is there a driver\?",
            ),
        ),
        Clue(2.6, All(is_("kernel_module", "none"), is_("gpu_on_pci", True))),
        Clue(
            2.5,
            All(
                is_("kernel_module", "none"),
                Any(NO_DEVICE, CUINIT_303),
                Any(Unknown("container"), is_("container", "none")),
                Not(Any(is_("wsl", True))),
            ),
        ),
        Clue(
            2.4,
            All(
                is_("kernel_module", "none"),
                is_("cuinit", "cuda_error_no_device"),
                Check("libcuda", test=lambda v: v not in {"missing", "stub"}),
                Not(is_("wsl", True)),
            ),
        ),
        Clue(0.6, All(Any(NO_DEVICE, CUINIT_303), SMI_FAILED)),
        Clue(2.0, All(NO_DEVICE, Unknown("kernel_module"), Unknown("container"), Unknown("scheduler"))),
        Clue(-1.5, is_("smi_works", True)),
    ),
    commonness=3,
    unless=(
        is_("gpu_vendor", "none", "amd", "apple"),
        is_("os", "windows", "macos"),
        Check("kernel_module", test=lambda v: str(v) != "none"),
    ),
    consequences=(
        "cuda-visible-devices",
        "uvm-device-missing",
        "libcuda-missing",
        "hpc-no-gpu-allocated",
        "cuinit-unknown-after-suspend",
        "cuda-libs-not-installed",
        "wrong-cuda-major",
        "harmless-no-gpu-on-machine",
    ),
    decide="lspci -k | grep -A3 -i nvidia; dkms status   # which kernel driver is in use? none: this kind",
    clear=(
        "The NVIDIA kernel driver is loaded.",
        Check("kernel_module", test=lambda version: str(version) != "none"),
    ),
    fires=(
        Case(
            log=(
                "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
                "that the latest NVIDIA driver is installed and running."
            ),
            stated=("platform=linux",),
        ),
    ),
    silent=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_NO_DEVICE\nkernel reported version is: 535.54.3",
            stated=("platform=linux",),
        ),
    ),
)
