"""A CPU build of TensorFlow on a machine with an NVIDIA GPU."""

from steptime.diagnosis.condition import All, Any, Check, Not, Unknown, is_
from steptime.diagnosis.environment.commands import BUILD_INFO, INSTALL, LIST_GPUS
from steptime.diagnosis.environment.places import LINUX
from steptime.diagnosis.environment.signs import CUDA_IN_USE
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="tensorflow-cpu-build",
    title="This TensorFlow is built for the CPU only, and the machine has an NVIDIA GPU.",
    cause="tensorflow-cpu and some builds of conda have no CUDA part, whatever else is installed.",
    remedies=(Remedy(("python -m pip uninstall -y tensorflow tensorflow-cpu tensorflow-intel", INSTALL)),),
    verify=LIST_GPUS,
    clues=(
        Clue(
            2.4,
            All(
                is_("tensorflow_build", "cpu"),
                is_("gpu_vendor", "nvidia"),
                LINUX,
                Not(is_("arch", "aarch64")),
            ),
        ),
        Clue(2.1, All(is_("tensorflow_build", "cpu"), is_("gpu_vendor", "nvidia"), Unknown("arch"), LINUX)),
        Clue(
            2.0,
            Check(
                "tensorflow_packages",
                "gpu_vendor",
                test=lambda names, maker: names == ("tensorflow-cpu",) and maker == "nvidia",
            ),
        ),
    ),
    commonness=2,
    unless=(is_("os", "windows", "macos"), is_("arch", "aarch64"), CUDA_IN_USE),
    consequences=("cuda-libs-not-installed",),
    decide=BUILD_INFO,
    clear=(
        "TensorFlow is built for what this machine has.",
        Any(
            All(is_("gpu_vendor", "none"), is_("tensorflow_build", "cpu", "cuda", "rocm")),
            All(is_("gpu_vendor", "nvidia"), is_("tensorflow_build", "cuda")),
        ),
    ),
    fires=(Case(log="is_cuda_build False", stated=("platform=linux", "gpu=RTX 3060", "tensorflow=2.18")),),
    silent=(Case(log="is_cuda_build False", stated=("platform=linux", "gpu=none", "tensorflow=2.18")),),
)
