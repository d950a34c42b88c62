"""Another process holds the GPU's memory."""

from steptime.diagnosis.condition import All, Check, Says, is_, less
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="oom-held-by-other-process",
    title="Another process holds the GPU's memory.",
    cause=(
        "TensorFlow maps almost all GPU memory when it starts; a second process (often a forgotten "
        "notebook kernel) then finds none."
    ),
    remedies=(
        Remedy(
            (
                "nvidia-smi   # find the process, end it (or restart the notebook kernel)",
                "set TF_FORCE_GPU_ALLOW_GROWTH=true   # in both programs",
            ),
            WINDOWS,
        ),
        Remedy(
            (
                "nvidia-smi   # find the process, end it: kill PID (or restart the notebook kernel)",
                "export TF_FORCE_GPU_ALLOW_GROWTH=true   # in both programs",
            )
        ),
    ),
    verify="nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv",
    clues=(
        Clue(
            2.4,
            Says(
                r"failed to allocate .{1,12} \(\d{1,14} bytes\) from device: cuda_error_out_of_memory",
                r"failed initializing streamexecutor for cuda device",
                (
                    r"could not retain cuda primary context|cudeviceprimaryctxretain|primary "
                    r"context.{0,40}out_of_memory|failed to create.{0,30}context.{0,60}out_of_memory"
                ),
                r"cuda_error_out_of_memory",
            ),
        ),
        Clue(
            1.4,
            Says(
                r"free ?memory: ?\d{1,3}(\.\d{1,2})?mib",
                r"failed initializing streamexecutor",
                r"primary context",
                r"device:gpu:\d with \d{1,3} ?mb memory",
            ),
        ),
        Clue(2.0, Says(r"/dev/nvidia\d:.{0,200}python")),
        Clue(1.0, Says(r"\d{4,6}mib ?/ ?\d{4,6}mib.{0,300}python")),
        Clue(
            2.2,
            Says(
                (
                    r"(other|another|second|zombie|old) (python |notebook |jupyter )?(pid|process|kernel|notebook|"
                    r"session|program|script)(?!.{0,40}cuda_visible).{0,80}(memory|gpu|hold|using|mib|\dgb|gib)"
                ),
                r"(memory|gpu).{0,60}(held|used|occupied|taken) by (an)?other",
            ),
        ),
        Clue(2.0, Says(r"ran out of memory trying to allocate")),
        Clue(2.3, All(Check("gpu_others", test=bool), less("gpu_memory_free_share", 0.3))),
        Clue(2.0, Says(r"dst tensor is not initialized", r"cublas_status_alloc_failed")),
        Clue(2.8, is_("cuinit", "cuda_error_out_of_memory")),
        Clue(-1.2, Says(r"oom when allocating tensor")),
    ),
    commonness=3,
    consequences=(
        "gpu-calculation-failed",
        "cudnn-handle-init-failed",
    ),
    decide="nvidia-smi   # before the start: does a process hold memory?",
    clear=("No other process holds the GPU's memory.", Check("gpu_others", test=lambda names: not names)),
    fires=(
        Case(
            log=(
                "failed initializing StreamExecutor for CUDA device ordinal 0: Internal: failed call to "
                "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY; total memory reported: 25447170048"
            ),
            stated=("platform=linux",),
        ),
    ),
    silent=(Case(log="OOM when allocating tensor with shape[512,512,3,3]", stated=("platform=linux",)),),
)
