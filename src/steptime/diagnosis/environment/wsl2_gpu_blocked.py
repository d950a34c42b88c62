"""WSL2: the operating system blocks the GPU."""

from steptime.diagnosis.condition import All, Says, is_
from steptime.diagnosis.environment.places import WSL
from steptime.diagnosis.environment.signs import SMI_FAILED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="wsl2-gpu-blocked",
    title="WSL2 can't reach the Windows driver.",
    cause=(
        "Windows is too old, a Linux NVIDIA driver or nvidia-utils package was installed inside WSL, "
        "or a data-centre card runs in TCC mode."
    ),
    remedies=(
        Remedy(
            (
                (
                    "sudo apt purge 'nvidia-driver*' 'nvidia-utils*' 'libnvidia-*' 'cuda-drivers*'   # inside "
                    "WSL: the driver is the one of Windows"
                ),
                "wsl --update; wsl --shutdown   # in PowerShell; and install the newest NVIDIA driver on Windows",
                "# data-centre cards: nvidia-smi -dm 0 in Windows (WDDM), or MCDM",
            )
        ),
    ),
    verify="/usr/lib/wsl/lib/nvidia-smi",
    clues=(
        Clue(3.4, Says(r"gpu access blocked by the operating system", r"blocked by the operating system")),
        Clue(3, is_("nvml", "blocked")),
        Clue(
            2.4,
            All(WSL, Says(r"nvidia-utils-\d{3}", r"nvidia-driver-\d{3}", r"apt.{0,20}install.{0,30}nvidia")),
        ),
        Clue(2.0, All(WSL, SMI_FAILED)),
        Clue(0.5, WSL),
    ),
    commonness=2,
    consequences=(
        "no-driver-loaded",
        "wsl2-cuinit-no-device",
        "docker-no-gpus-flag",
        "container-lost-gpu",
        "libcuda-missing",
    ),
    decide="dpkg -l | grep nvidia   # inside WSL: a driver package must not be there",
    fires=(
        Case(
            log="Failed to initialize NVML: GPU access blocked by the operating system",
            stated=("platform=wsl2",),
        ),
    ),
    silent=(Case(log="Failed to initialize NVML: Unknown Error", stated=("platform=docker",)),),
)
