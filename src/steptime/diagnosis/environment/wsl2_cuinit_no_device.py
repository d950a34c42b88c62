"""WSL2: the driver finds no device."""

from steptime.diagnosis.condition import All, Any, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.places import WSL
from steptime.diagnosis.environment.signs import CUINIT_UNKNOWN, NO_DEVICE
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="wsl2-cuinit-no-device",
    title="In WSL2 the driver finds no GPU.",
    cause=(
        "The combination of Windows version, NVIDIA driver on Windows and WSL kernel gives WSL no "
        "usable device (/dev/dxg or the driver's library is missing or too old)."
    ),
    remedies=(
        Remedy(
            (
                (
                    "wsl --update; wsl --shutdown   # in PowerShell; install the newest NVIDIA driver on Windows "
                    "first (528.33 or newer)"
                ),
                "ls -l /dev/dxg /usr/lib/wsl/lib/libcuda.so.1   # inside WSL: both must be there",
                'echo "[$CUDA_VISIBLE_DEVICES]"   # must be empty or name a GPU',
            )
        ),
    ),
    verify="/usr/lib/wsl/lib/nvidia-smi && " + LIST_GPUS,
    clues=(
        Clue(2.7, All(WSL, Any(NO_DEVICE, is_("cuinit", "cuda_error_no_device")))),
        Clue(2.4, All(WSL, Any(CUINIT_UNKNOWN, is_("cuinit", "cuda_error_unknown")))),
        Clue(2.6, All(WSL, is_("dev_dxg", False))),
        Clue(2.0, All(WSL, Says(r"kernel driver does not appear to be running", r"no devices were found"))),
    ),
    commonness=1,
    consequences=(
        "cuda-visible-devices",
        "no-driver-loaded",
        "uvm-device-missing",
        "cuinit-unknown-after-suspend",
    ),
    decide='ls -l /dev/dxg /usr/lib/wsl/lib/libcuda.so.1; echo "[$CUDA_VISIBLE_DEVICES]"',
    unless=(is_("gpus_hidden", True), is_("gpu_vendor", "none", "amd")),
    clear=("WSL has the device /dev/dxg.", All(WSL, is_("dev_dxg", True))),
    fires=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
            stated=("platform=WSL2 (Ubuntu 22.04)",),
        ),
    ),
    silent=(Case(log="failed call to cuInit: CUDA_ERROR_NO_DEVICE", stated=("platform=linux",)),),
)
