"""Apptainer or Singularity without --nv."""

from steptime.diagnosis.condition import All, Any, Says, is_
from steptime.diagnosis.environment.places import APPTAINER
from steptime.diagnosis.environment.signs import (
    CUDART_LINE,
    CUINIT_303,
    CUINIT_UNKNOWN,
    LIBCUDA_LINE,
    NO_DEVICE,
    NO_GPU_LISTED,
    SKIPPED_GPUS,
)
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="singularity-no-nv",
    title="The Apptainer (Singularity) container was started without access to the GPU.",
    cause=(
        "Without --nv the host's driver libraries are not bound in; a device index in "
        "CUDA_VISIBLE_DEVICES that does not exist inside gives the same error."
    ),
    remedies=(
        Remedy(
            (
                "apptainer exec --nv IMAGE.sif python train.py   # singularity exec --nv on older systems",
                "unset CUDA_VISIBLE_DEVICES   # inside, unless it names a visible device",
            )
        ),
    ),
    verify="apptainer exec --nv IMAGE.sif nvidia-smi -L",
    clues=(
        Clue(
            2.6,
            All(
                APPTAINER,
                Any(
                    NO_DEVICE,
                    is_("cuinit", "cuda_error_no_device"),
                    CUINIT_303,
                    LIBCUDA_LINE,
                    CUDART_LINE,
                    NO_GPU_LISTED,
                    SKIPPED_GPUS,
                    is_("dev_nvidia", False),
                    is_("libcuda", "missing"),
                    CUINIT_UNKNOWN,
                ),
            ),
        ),
        Clue(
            1.0,
            Says(
                r"(without|no|missing|add\w{0,3}) ?(the )?--nv",
                r"(singularity|apptainer) (exec|run|shell) (?!.{0,20}--nv)",
            ),
        ),
        Clue(1.3, All(APPTAINER, Says(r"--nv"))),
    ),
    commonness=1,
    unless=(is_("os", "windows", "macos"),),
    consequences=(
        "cuda-visible-devices",
        "libcuda-missing",
        "no-driver-loaded",
        "cuda-libs-not-installed",
        "uvm-device-missing",
        "docker-no-gpus-flag",
        "cuinit-unknown-after-suspend",
    ),
    decide="ls /.singularity.d/libs/   # inside: libcuda.so must be there",
    clear=("The Apptainer container has the host's driver libraries.", All(APPTAINER, is_("cuinit", "ok"))),
    fires=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
            stated=("platform=singularity",),
        ),
    ),
    silent=(Case(log="failed call to cuInit: CUDA_ERROR_NO_DEVICE", stated=("platform=linux",)),),
)
