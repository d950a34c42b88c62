"""An AMD GPU with the CUDA build, or one that ROCm does not support."""

from steptime.diagnosis.condition import All, Any, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.places import WINDOWS_OR_WSL
from steptime.diagnosis.environment.signs import CUDART_LINE, CUINIT_303, NO_DEVICE, NO_GPU_LISTED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="amd-gpu-no-cuda-build",
    title="An AMD GPU needs the ROCm build of TensorFlow, and a chip that ROCm supports.",
    cause=(
        "The package tensorflow is built for CUDA only; tensorflow-rocm on the package index ends at "
        "2.14; newer ones come from AMD, for listed chips (gfx targets)."
    ),
    remedies=(
        Remedy(
            (
                "# native Windows and WSL: no maintained TensorFlow for AMD GPUs; use the CPU, or Linux with ROCm",
            ),
            WINDOWS_OR_WSL,
        ),
        Remedy(
            (
                "docker run --rm -it --device /dev/kfd --device /dev/dri --group-add video rocm/tensorflow:latest bash",
                "# a consumer card that is not listed, at your own risk: export HSA_OVERRIDE_GFX_VERSION=10.3.0",
            )
        ),
    ),
    verify="rocminfo | grep gfx; " + LIST_GPUS,
    clues=(
        Clue(
            2.6,
            Says(
                r"amdgpu-install",
                r"rocminfo",
                r"tensorflow-rocm",
                r"/opt/rocm",
                r"\[amd/ati\]",
                r"advanced micro devices",
                r"amdkfd",
                r"/dev/kfd",
                r"radeon (rx|vega|pro|vii)",
            ),
        ),
        Clue(
            3,
            Says(
                r"with amdgpu version",
                r"failed call to hipinit",
                r"hip_error_\w{3,30}",
                r"librocm\w{0,20}\.so|libamdhip64|libhsa-runtime",
                r"hiperror\w{3,30}",
                r"rocblas|miopen",
                r"unable to find code object for all current devices",
                r"hipexception",
                r"hsa_status_error",
                r"amdgpu version : ?gfx",
                r"no rocm-capable device",
                r"hip_visible_devices",
            ),
        ),
        Clue(2.4, is_("gpu_vendor", "amd")),
        Clue(1.0, All(is_("gpu_vendor", "amd"), Any(NO_GPU_LISTED, CUDART_LINE, CUINIT_303, NO_DEVICE))),
        Clue(2.2, All(is_("tensorflow_build", "rocm"), Any(NO_GPU_LISTED, is_("tensorflow_gpus", 0)))),
    ),
    commonness=2,
    unless=(is_("os", "macos"),),
    consequences=(
        "harmless-no-gpu-on-machine",
        "libcuda-missing",
        "cuda-libs-not-installed",
        "windows-native-no-gpu",
        "no-driver-loaded",
        "cuda-visible-devices",
    ),
    decide="lspci | grep -i -e vga -e display",
    fires=(
        Case(
            log=(
                "Ignoring visible gpu device (device: 0, name: AMD Radeon RX 6700 XT, pci bus id: "
                "0000:0c:00.0) with AMDGPU version : gfx1031."
            )
        ),
        Case(stated=("platform=linux", "gpu=AMD Radeon RX 7900 XTX")),
    ),
    silent=(Case(stated=("platform=linux", "gpu=RTX 3060")),),
)
