"""The GPU fell off the bus."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="gpu-lost",
    title="The GPU fell off the bus or failed in the middle of its work.",
    cause="Trouble of the hardware, the power supply, heat or the PCIe link; the kernel log shows Xid lines.",
    remedies=(
        Remedy(
            (
                (
                    "# restart the machine with power off for a minute; check cooling, power cables and "
                    "overclocking; newest driver"
                ),
            ),
            WINDOWS,
        ),
        Remedy(
            (
                "sudo dmesg | grep -i -e xid -e nvrm -e aer   # the Xid number names the fault",
                "sudo reboot   # better: power off for a minute; check cooling, power cables and the seat of the card",
                "sudo nvidia-smi -pl 200   # if it returns under load: a lower power limit, in watts",
            )
        ),
    ),
    verify="nvidia-smi --query-gpu=name,temperature.gpu,power.draw --format=csv",
    clues=(
        Clue(
            3.2,
            Says(
                r"gpu is lost",
                r"unable to determine the device handle",
                r"fallen off the bus",
                r"nvrm: ?xid",
                r"xid \(?pci",
                r"cuda_error_ecc_uncorrectable",
                r"gpu has fallen",
                r"cuda_error_hardware_stack_error",
                r"uncorrectable ecc error",
                r"no longer accessible.{0,20}gpu|gpu.{0,20}no longer accessible",
            ),
        ),
        Clue(
            2.4,
            Says(
                r"cuda_error_launch_failed",
                r"unspecified launch failure",
                r"cuda_error_illegal_address",
                r"an illegal memory access was encountered",
                r"cuda_error_launch_timeout",
                r"launch timed out and was terminated",
            ),
        ),
    ),
    commonness=1,
    consequences=(
        "gpu-calculation-failed",
        "cuda-visible-devices",
        "no-driver-loaded",
        "cudnn-handle-init-failed",
        "oom-model-too-big",
    ),
    decide="sudo dmesg | grep -i xid",
    fires=(
        Case(
            log=(
                "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system "
                "to recover this GPU"
            )
        ),
    ),
    silent=(Case(log="failed call to cuInit: CUDA_ERROR_NO_DEVICE"),),
)
