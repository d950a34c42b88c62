"""The NVIDIA driver is older than the CUDA runtime needs."""

from steptime.diagnosis.condition import All, Any, Check, Says, Unknown, is_
from steptime.diagnosis.environment.commands import SMI
from steptime.diagnosis.environment.places import CONTAINER, WINDOWS, WSL
from steptime.diagnosis.environment.signs import CUDART_LINE, NO_GPU_LISTED, SKIPPED_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.releases import MIN_DRIVER, MIN_DRIVER_BLACKWELL, MIN_DRIVER_WINDOWS, cuda_major
from steptime.environment.versions import compare, numbers


def _old_linux(driver: object, tensorflow: object) -> bool | None:
    major = cuda_major(str(tensorflow))
    return compare(str(driver), MIN_DRIVER[major]) < 0 if major in MIN_DRIVER else None


def _old_windows(driver: object, tensorflow: object) -> bool | None:
    major = cuda_major(str(tensorflow))
    return compare(str(driver), MIN_DRIVER_WINDOWS[major]) < 0 if major in MIN_DRIVER_WINDOWS else None


RULE = Rule(
    kind="driver-too-old",
    title="The NVIDIA driver is older than the CUDA libraries need.",
    cause=(
        "CUDA 12 (TensorFlow 2.15 to 2.21) needs driver 525.60.13 (Windows and WSL 528.33) or newer, "
        "CUDA 11 needs 450.80.02, CUDA 13 and Blackwell GPUs 580 and 570; conda and pip may bring a "
        "newer runtime than the driver knows."
    ),
    remedies=(
        Remedy(
            (
                "# install the newest NVIDIA driver on Windows, then in PowerShell:",
                "wsl --update; wsl --shutdown",
            ),
            WSL,
        ),
        Remedy(("# install the newest NVIDIA driver for Windows and restart",), WINDOWS),
        Remedy(
            (
                "sudo ubuntu-drivers install && sudo reboot   # on the host: a container uses the host's driver",
            ),
            CONTAINER,
        ),
        Remedy(
            (
                "sudo ubuntu-drivers install && sudo reboot",
                (
                    "# if the driver must stay: the TensorFlow whose CUDA fits it, 2.14.1 (CUDA 11.8) for "
                    "drivers from 450.80.02 on"
                ),
            )
        ),
    ),
    verify=SMI,
    clues=(
        Clue(
            3.4,
            Says(
                r"cuda driver version is insufficient for cuda runtime version",
                r"cuda_error_insufficient_driver",
                r"cudaerrorinsufficientdriver",
                r"nvidia driver on your system is too old",
                r"driver version is insufficient",
                r"requires? (an )?nvidia driver (release )?\d{3}.{0,60}(or later|but)",
                r"the nvidia driver is (too )?old",
                r"cuda_error_unsupported_ptx_version|the provided ptx was compiled with an unsupported toolchain",
                r"unsatisfied condition: ?(cuda|driver)",
                r"please update your (nvidia|gpu) driver",
            ),
        ),
        Clue(
            2.7,
            All(
                is_("os", "linux"),
                Check("driver", "tensorflow", test=_old_linux),
                Any(is_("wsl", False), Unknown("wsl")),
            ),
        ),
        Clue(2.7, All(is_("wsl", True), Check("driver", "tensorflow", test=_old_windows))),
        Clue(
            2.3,
            Check(
                "driver",
                "gpu_cc_max",
                test=lambda driver, cc: (
                    float(str(cc)) >= 10 and compare(str(driver), MIN_DRIVER_BLACKWELL) < 0
                ),
            ),
        ),
        Clue(
            2.2,
            Check(
                "driver",
                "tensorflow_cuda",
                test=lambda d, c: (
                    (m := numbers(str(c))[0]) in MIN_DRIVER and compare(str(d), MIN_DRIVER[m]) < 0
                ),
            ),
        ),
        Clue(
            2.1,
            All(
                Check(
                    "driver_cuda",
                    "tensorflow",
                    test=lambda c, tf: (m := cuda_major(str(tf))) is not None and numbers(str(c))[0] < m,
                ),
                Any(CUDART_LINE, SKIPPED_GPUS, NO_GPU_LISTED, Says(r"cuinit")),
            ),
        ),
    ),
    commonness=2,
    unless=(is_("gpu_vendor", "none", "amd", "apple"),),
    consequences=(
        "gpu-calculation-failed",
        "cudnn-handle-init-failed",
        "cuda-visible-devices",
        "forward-compat-unsupported",
    ),
    decide="nvidia-smi   # its driver version against 525.60.13 (CUDA 12) or 570 (Blackwell)",
    clear=(
        "The driver is new enough for TensorFlow's CUDA.",
        Check("driver", "tensorflow", test=lambda driver, tf: _old_linux(driver, tf) is False),
    ),
    fires=(
        Case(
            log="Status: CUDA driver version is insufficient for CUDA runtime version",
            stated=("platform=linux",),
        ),
        Case(stated=("platform=linux", "gpu=RTX 3060", "driver=470.57.02", "tensorflow=2.18")),
    ),
    silent=(Case(stated=("platform=linux", "gpu=RTX 3060", "driver=535.54.03", "tensorflow=2.18")),),
)
