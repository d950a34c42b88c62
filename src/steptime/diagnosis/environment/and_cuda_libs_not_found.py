"""The CUDA wheels are installed, but TensorFlow does not find them."""

from steptime.diagnosis.condition import All, Any, Check, Says, at_least, below, is_, more
from steptime.diagnosis.environment.commands import INSTALL, LIST_GPUS, NEW_VENV
from steptime.diagnosis.environment.signs import CUDART_LINE, NO_GPU_LISTED, SKIPPED_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="and-cuda-libs-not-found",
    title="The CUDA wheels are installed, but this TensorFlow does not find them.",
    cause=(
        "2.16.1 to 2.17 did not look into the nvidia/*/lib folders of the Python environment; some "
        "layouts (poetry, conda, user site) still defeat the search."
    ),
    remedies=(
        Remedy(
            (
                NEW_VENV,
                INSTALL + "   # 2.18 or newer finds its libraries",
                "# if 2.16 or 2.17 is pinned:",
                (
                    "export LD_LIBRARY_PATH=$(python -c 'import glob, sysconfig; "
                    'print(":".join(glob.glob(sysconfig.get_path("purelib") + "/nvidia/*/lib")))\')'
                ),
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(1.4, SKIPPED_GPUS),
        Clue(1.2, CUDART_LINE),
        Clue(0.9, All(at_least("tensorflow", "2.16"), below("tensorflow", "2.18"))),
        Clue(
            1.2,
            All(
                at_least("tensorflow", "2.16"),
                below("tensorflow", "2.18"),
                is_("os", "linux"),
                Any(NO_GPU_LISTED, is_("tensorflow_gpus", 0), Says(r"list_physical_devices.{0,30}\[\]")),
            ),
        ),
        Clue(
            2.6,
            Says(
                r"site-packages/nvidia/(\*|\w{1,20})/lib ?(is |are )?present",
                r"(no|without|unset|set|export|add\w{0,3}) ld_library_path.{0,60}site-packages/nvidia",
                r"site-packages/nvidia/.{1,40}/lib.{0,80}ld_library_path",
                r"tensorflow\[and-cuda\].{0,60}(installed|successfully).{0,200}(\[\]|not found|skipping)",
                r"nvidia wheels (are )?(installed|present).{0,80}(\[\]|not|no gpu)",
                r"nvidia-.{1,20}-cu1\d.{0,6} (wheels?|packages?|libraries) (is |are )?(all )?(installed|present|there)",
            ),
        ),
        Clue(
            1.0,
            Says(
                r"nvidia-cuda-runtime-cu12|nvidia_cuda_runtime_cu12",
                r"pip3? install .{0,30}tensorflow\[and-cuda\]",
            ),
        ),
        Clue(
            2.6,
            All(
                is_("cudart", "wheel"),
                Check("libs_missing", test=lambda names: len(names) > 0),
                is_("tensorflow_gpus", 0),
            ),
        ),
        Clue(
            2.4,
            All(
                is_("cudart", "wheel"),
                is_("tensorflow_gpus", 0),
                is_("cuinit", "ok"),
                is_("tensorflow_build", "cuda"),
            ),
        ),
    ),
    commonness=3,
    unless=(
        is_("os", "windows", "macos"),
        is_("gpu_vendor", "none", "amd", "apple"),
        is_("tensorflow_build", "cpu", "rocm"),
        below("tensorflow", "2.14"),
        is_("cudart", "missing"),
    ),
    decide="python -m pip list | grep nvidia-cuda-runtime   # listed: the wheels are there and are not found",
    clear=(
        "TensorFlow finds the CUDA wheels of this environment.",
        All(is_("cudart", "wheel"), more("tensorflow_gpus", 0)),
    ),
    fires=(
        Case(
            log=(
                "W tensorflow/core/common_runtime/gpu/gpu_device.cc:2251] Cannot dlopen some GPU "
                "libraries.\nSkipping registering GPU devices...\n[]"
            ),
            stated=("platform=linux", "tensorflow=2.17.0", "pip=nvidia-cuda-runtime-cu12 12.3.101"),
        ),
        Case(
            log=">>> tf.config.list_physical_devices('GPU')\n[]",
            stated=("platform=linux", "tensorflow=2.16.1"),
        ),
    ),
    silent=(Case(log="Cannot dlopen some GPU libraries.", stated=("platform=linux", "tensorflow=2.11")),),
)
