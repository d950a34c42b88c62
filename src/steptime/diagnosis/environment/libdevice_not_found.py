"""XLA can't find libdevice."""

from steptime.diagnosis.condition import All, Says, is_
from steptime.diagnosis.environment.commands import INSTALL, XLA_STEP
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="libdevice-not-found",
    title="XLA can't find libdevice.",
    cause=(
        "XLA (jit_compile, and the Keras optimizers of 2.11) needs nvvm/libdevice/libdevice.10.bc, "
        "which runtime-only images and conda's cudatoolkit leave out."
    ),
    remedies=(
        Remedy(
            (
                "# native Windows with 2.10: set XLA_FLAGS to the CUDA toolkit's folder that holds nvvm\\libdevice",
                'set XLA_FLAGS=--xla_gpu_cuda_data_dir="C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v11.2"',
            ),
            WINDOWS,
        ),
        Remedy(
            (
                INSTALL + "   # brings nvidia-cuda-nvcc-cu12, which holds libdevice",
                "# or name the folder that holds nvvm/libdevice:",
                (
                    "export XLA_FLAGS=--xla_gpu_cuda_data_dir=$(python -c 'import sysconfig; "
                    'print(sysconfig.get_path("purelib"))\')/nvidia/cuda_nvcc'
                ),
            )
        ),
    ),
    verify=XLA_STEP,
    clues=(
        Clue(
            3.2,
            Says(
                r"can't find libdevice directory",
                r"libdevice not found at",
                r"libdevice\.10\.bc",
                r"libdevice is required by this hlo module",
                r"could not find libdevice",
                r"searched for cuda in the following directories",
            ),
        ),
        Clue(
            2.4,
            Says(
                r"no .{0,50}libdevice",
                r"no nvidia-cuda-nvcc",
                r"libdevice (is )?(missing|absent|not there)",
                r"without nvidia-cuda-nvcc",
            ),
        ),
        Clue(2.3, All(is_("libdevice", False), is_("cuinit", "ok"), is_("tensorflow_build", "cuda"))),
    ),
    commonness=3,
    consequences=("gpu-calculation-failed", "ptxas-missing", "cudnn-handle-init-failed"),
    decide="find / -name 'libdevice*.bc' 2>/dev/null",
    clear=("libdevice is found.", is_("libdevice", True)),
    fires=(
        Case(
            log=(
                "Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in compilation "
                "or runtime failures"
            )
        ),
    ),
    silent=(Case(log="I xla/service/service.cc:168] XLA service 0x7f initialized for platform CUDA"),),
)
