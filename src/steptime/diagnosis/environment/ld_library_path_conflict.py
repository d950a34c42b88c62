"""LD_LIBRARY_PATH puts another CUDA or cuDNN first."""

from steptime.diagnosis.condition import All, Check, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.signs import CUDNN_MISMATCH
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="ld-library-path-conflict",
    title="LD_LIBRARY_PATH makes the loader take another CUDA or cuDNN first.",
    cause=(
        "The loader honours LD_LIBRARY_PATH before the folders the wheels name, so a copy of the "
        "system or of conda hides the right one."
    ),
    remedies=(
        Remedy(
            (
                "unset LD_LIBRARY_PATH",
                (
                    "grep -n LD_LIBRARY_PATH ~/.bashrc ~/.profile $CONDA_PREFIX/etc/conda/activate.d/* "
                    "2>/dev/null   # take the export away there"
                ),
                "# then start a new process",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(2.1, CUDNN_MISMATCH),
        Clue(1.4, All(CUDNN_MISMATCH, Says(r"ld_library_path", r"conda.{0,30}/lib(?!/python)"))),
        Clue(
            2.6,
            Says(
                r"(unset\w{0,4}|remov\w{1,3}|clear\w{0,3}) (the )?\$?ld_library_path",
                r"ld_library_path .{0,120}(shadow|first|before|wins|overrid|old|conflict|native|system)",
                r"(shadow|conflict|wins|native cuda).{0,60}ld_library_path",
            ),
        ),
        Clue(
            2.2,
            Check(
                "loader_path_cuda",
                "cudart",
                test=lambda folder, found: str(folder) != "none" and found == "wheel",
            ),
        ),
        Clue(0.5, Check("loader_path_cuda", test=lambda folder: str(folder) != "none")),
    ),
    commonness=2,
    unless=(is_("os", "windows", "macos"),),
    consequences=("gpu-calculation-failed",),
    decide="echo $LD_LIBRARY_PATH; env -u LD_LIBRARY_PATH " + LIST_GPUS,
    clear=(
        "LD_LIBRARY_PATH names no CUDA folder that hides the wheels.",
        All(is_("cudart", "wheel"), is_("loader_path_cuda", "none")),
    ),
    fires=(
        Case(
            log="Loaded runtime CuDNN library: 8.1.1 but source was compiled with: 8.6.0.",
            stated=(
                "platform=linux",
                "tensorflow=2.12",
                "env=LD_LIBRARY_PATH=/usr/local/cuda-11.2/lib64 comes before the environment's folders",
            ),
        ),
    ),
    silent=(
        Case(
            log="Created device /job:localhost/replica:0/task:0/device:GPU:0 with 38000 MB memory",
            stated=("platform=linux",),
        ),
    ),
)
