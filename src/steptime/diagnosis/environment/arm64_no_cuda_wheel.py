"""ARM64 Linux: the wheels are CPU-only."""

from steptime.diagnosis.condition import All, Any, Says, Unknown, is_
from steptime.diagnosis.environment.commands import BUILD_INFO
from steptime.diagnosis.environment.places import ARM, JETSON
from steptime.diagnosis.environment.signs import CUDA_IN_USE, NO_GPU_LISTED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="arm64-no-cuda-wheel",
    title="On ARM64 Linux the TensorFlow wheels have no CUDA.",
    cause=(
        "The package index's aarch64 wheels are CPU-only builds, although [and-cuda] installs "
        "NVIDIA's CUDA wheels beside them."
    ),
    remedies=(
        Remedy(
            (
                (
                    "# Jetson: NVIDIA's own TensorFlow wheel or container for the installed JetPack "
                    "(jetson-containers, l4t-tensorflow)"
                ),
                "cat /etc/nv_tegra_release   # shows the JetPack's L4T version",
            ),
            JETSON,
        ),
        Remedy(
            (
                (
                    "docker run --rm -it --gpus all nvcr.io/nvidia/tensorflow:25.02-tf2-py3 bash   # NVIDIA's "
                    "image for ARM servers (Grace, GH200, GB10)"
                ),
                "# or build TensorFlow from source",
            )
        ),
    ),
    verify=BUILD_INFO + "   # is_cuda_build must be True",
    clues=(
        Clue(2.4, All(ARM, Any(is_("gpu_vendor", "nvidia"), is_("jetson", True), is_("gpu_on_pci", True)))),
        Clue(1.4, All(ARM, Unknown("gpu_vendor"))),
        Clue(
            1.0,
            All(
                ARM,
                Any(
                    is_("tensorflow_build", "cpu"),
                    NO_GPU_LISTED,
                    is_("tensorflow_gpus", 0),
                    Says(r"aarch64", r"arm64"),
                ),
            ),
        ),
    ),
    commonness=2,
    unless=(
        is_("os", "windows", "macos"),
        is_("tensorflow_build", "cuda"),
        Says(r"nvcr\.io/nvidia/tensorflow", r"l4t-tensorflow", r"\+nv\d"),
        CUDA_IN_USE,
        is_("gpu_vendor", "none", "amd"),
    ),
    consequences=(
        "cuda-libs-not-installed",
        "and-cuda-libs-not-found",
        "docker-cpu-image",
        "tensorflow-cpu-build",
        "blackwell-sm90a-ptx",
        "cc-too-new-ptx-jit",
    ),
    decide="uname -m; " + BUILD_INFO,
    fires=(
        Case(log="is_cuda_build: False", stated=("platform=linux aarch64", "gpu=GH200", "tensorflow=2.20")),
        Case(stated=("platform=jetson", "tensorflow=2.13")),
    ),
    silent=(Case(stated=("platform=linux", "arch=x86_64", "gpu=H100", "tensorflow=2.20")),),
)
