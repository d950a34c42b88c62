"""CUDA lines on a machine without an NVIDIA GPU."""

from steptime.diagnosis.condition import All, Not, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="harmless-no-gpu-on-machine",
    title="Lines about CUDA on a machine without an NVIDIA GPU: expected.",
    cause=(
        "The CUDA build looks for CUDA at every start; on a machine without an NVIDIA GPU these "
        "lines say only that, and training on the CPU is right."
    ),
    remedies=(
        Remedy(
            ("# nothing to do; to silence them: python -m pip install tensorflow-cpu in a fresh environment",)
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            1,
            Says(
                r"could not find cuda drivers on your machine.{0,30}",
                r"failed call to cuinit.{0,120}",
                r"ignore above cudart dlerror if you do not have a gpu.{0,30}",
                (
                    r"could not load dynamic library '(libcuda\.so\.1|libcudart|cudart64|nvcuda|libcu|libnv|"
                    r"cudnn64|cublas|cusolver|cufft|curand|cusparse).{0,200}?(no such file or directory|not found)"
                    r"?"
                ),
                r"kernel driver does not appear to be running.{0,80}",
                r"cannot dlopen some gpu libraries.{0,300}?(skipping registering gpu devices)?",
                r"skipping registering gpu devices\.{0,3}",
                r"/proc/driver/nvidia/version does not exist",
                r"retrieving cuda diagnostic information for host.{0,40}",
            ),
        ),
        Clue(1.2, is_("gpu_vendor", "none")),
        Clue(1.2, is_("gpu_vendor", "intel", "apple")),
        Clue(1.2, All(is_("gpu_on_pci", False), is_("libcuda", "missing"), Not(is_("wsl", True)))),
        Clue(
            1.2,
            Says(
                (
                    r"(no|without an?y?|don't have an?y?|do not have an?y?|doesn't have an?y?|has no) (nvidia )"
                    r"?(gpu|graphics card|cuda-capable)(?!s? ?(/tpu|is |are )?(found|listed|detected|devices?|"
                    r"support|functionality|set up)).{0,60}"
                ),
                r"cpu[- ]only (machine|server|vm|laptop)",
                r"(machine|laptop|server|vm|system) (has no|without) gpu",
                r"integrated graphics only",
            ),
        ),
    ),
    commonness=3,
    harmless=True,
    decide="lspci | grep -i nvidia   # prints nothing: this machine has no NVIDIA GPU, and the lines are harmless",
    fires=(
        Case(
            log=(
                "I external/local_xla/xla/tsl/cuda/cudart_stub.cc:32] Could not find cuda drivers on your "
                "machine, GPU will not be used."
            ),
            stated=("platform=linux", "gpu=none"),
        ),
    ),
    silent=(
        Case(
            log="Could not find cuda drivers on your machine, GPU will not be used.",
            stated=("platform=linux", "gpu=RTX 3060"),
        ),
    ),
)
