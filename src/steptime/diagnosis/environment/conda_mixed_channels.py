"""conda mixes channels or picked a CPU build."""

from steptime.diagnosis.condition import All, Any, Says, is_
from steptime.diagnosis.environment.commands import INSTALL, LIST_GPUS, NEW_VENV
from steptime.diagnosis.environment.places import CONDA
from steptime.diagnosis.environment.signs import NO_GPU_LISTED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="conda-mixed-channels",
    title="conda chose a CPU build of TensorFlow or mixed channels.",
    cause=(
        "The solver takes a CPU variant when it sees no GPU while solving (no __cuda), or mixes "
        "packages of conda-forge and defaults that do not fit."
    ),
    remedies=(
        Remedy(
            (
                NEW_VENV + "   # pip in an environment of its own",
                INSTALL,
                (
                    "# or conda-forge alone: CONDA_OVERRIDE_CUDA=12.8 conda create -n tf -c conda-forge "
                    "--override-channels 'tensorflow=*=cuda*'"
                ),
            )
        ),
    ),
    verify="conda list tensorflow; " + LIST_GPUS,
    clues=(
        Clue(
            2.6,
            Says(
                r"tensorflow(-gpu|-base|-estimator)? +.{1,12} +(cpu_|mkl_|eigen_)",
                r"tensorflow.{0,10}\d\.\d{1,2}\.\d(cpu_|mkl_|eigen_)py\d",
                r"tensorflow-gpu.{1,30}.{0,40}(defaults|pkgs/main)",
                r"(cpu|mkl|eigen)_py3\d{1,2}h[0-9a-f]{4}",
                r"-> ?\d\.\d{1,2}\.\d-(mkl|eigen|cpu)_py",
                r"gpu_py\d{2,3}h\w{7,10}_\d ?-->.{0,40}(mkl|eigen|cpu)_py",
                r"_tflow_select.{0,30}(mkl|eigen)",
                r"tensorflow .{1,12} py\d{2,3}_\d {1,8}conda-forge",
                r"__cuda",
                r"mix\w{0,4} (conda )?channels|conda-forge and defaults|mixed channels",
                r"conda_override_cuda",
                r"tensorflow=?\*?=?cpu_",
            ),
        ),
        Clue(
            2.1,
            All(
                CONDA,
                Says(r"conda-forge", r"pkgs/main", r"defaults", r"anaconda::"),
                Says(
                    r"tensorflow(-gpu|-base)?.{0,4} {0,30}\d\.\d{1,2}\.\d", r"conda install .{0,60}tensorflow"
                ),
            ),
        ),
        Clue(
            2.2,
            All(
                CONDA,
                Says(r"conda (install|create) .{0,60}tensorflow", r"conda list"),
                Any(NO_GPU_LISTED, is_("tensorflow_gpus", 0)),
            ),
        ),
        Clue(1.0, All(CONDA, is_("tensorflow_build", "cpu"))),
        Clue(1.3, All(CONDA, is_("tensorflow_build", "cpu"), is_("os", "linux"))),
    ),
    commonness=2,
    decide="conda list | grep -i tensorflow   # which channel and build string?",
    consequences=(
        "cuda-libs-not-installed",
        "tensorflow-cpu-build",
        "windows-native-no-gpu",
        "and-cuda-libs-not-found",
    ),
    fires=(
        Case(
            log=(
                "tensorflow                2.6.0           eigen_py39h855417c_0\ntensorflow-gpu            "
                "2.6.0                h17022bd_0    defaults"
            ),
            stated=("platform=linux",),
        ),
    ),
    silent=(Case(log="Collecting package metadata: done\nconda activate tf", stated=("platform=linux",)),),
)
