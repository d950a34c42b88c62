"""XLA can't find ptxas."""

from steptime.diagnosis.condition import All, Says, is_
from steptime.diagnosis.environment.commands import XLA_STEP
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="ptxas-missing",
    title="XLA can't find or run ptxas, the assembler for GPU code.",
    cause=(
        "The wheel nvidia-cuda-nvcc-cu12 is missing, its ptxas is not executable, or a build of "
        "one's own has no CUDA path."
    ),
    remedies=(
        Remedy(
            (
                "python -m pip install --upgrade nvidia-cuda-nvcc-cu12   # part of 'tensorflow[and-cuda]'",
                (
                    "chmod +x $(python -c 'import sysconfig; "
                    'print(sysconfig.get_path("purelib"))\')/nvidia/cuda_nvcc/bin/*'
                ),
                "# last resort: export XLA_FLAGS=--xla_gpu_unsafe_fallback_to_driver_on_ptxas_not_found=true",
            )
        ),
    ),
    verify=XLA_STEP,
    clues=(
        Clue(
            3,
            Says(
                r"no ptx compilation provider is available",
                r"ptxas not found",
                r"can.?t find ptxas",
                r"cannot find ptxas",
                r"unable to (find|locate|launch) ptxas",
                r"no ptxas",
                r"you are using ptxas .{1,16}, which (is older|is in range)",
                r"falling back to the (cuda )?driver for ptx",
                r"invoking (ptxas|gpu asm compilation) (is )?(not )?supported",
                r"couldn't get ptxas",
                r"couldn't (find|invoke) ptxas",
                r"ptxas(/nvlink)? (version|exited|returned an error)",
                r"could not find ptxas",
                r"no ptxas",
                r"ptxas (is )?(missing|absent)",
                (
                    r"(no such file or directory|permission denied).{0,20}ptxas|ptxas.{0,40}(no such file|"
                    r"permission denied|not executable)"
                ),
                r"relying on driver to perform ptx compilation",
                r"failed to (compile|launch) ptxas",
                r"ptxas .{0,40}doesn't support",
                r"xla_gpu_unsafe_fallback_to_driver_on_ptxas_not_found",
                r"internal: ?(subprocess|failed).{0,40}ptxas",
            ),
        ),
        Clue(2.2, All(is_("ptxas", False), is_("cuinit", "ok"), is_("tensorflow_build", "cuda"))),
    ),
    commonness=2,
    consequences=("gpu-calculation-failed",),
    decide=(
        "python -c \"import glob, sysconfig; print(glob.glob(sysconfig.get_path('purelib') + "
        "'/nvidia/cuda_nvcc/bin/ptxas'))\"; which ptxas"
    ),
    clear=("ptxas is found.", is_("ptxas", True)),
    fires=(
        Case(
            log=(
                "INTERNAL: XLA compilation failed: No PTX compilation provider is available. Neither "
                "ptxas/nvlink nor nvjtlink is available."
            )
        ),
    ),
    silent=(Case(log="LLVM ERROR: PTX version 8.5 does not support target 'sm_120'"),),
)
