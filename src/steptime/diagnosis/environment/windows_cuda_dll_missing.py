"""Windows up to TensorFlow 2.10: a CUDA DLL is not found."""

from steptime.diagnosis.condition import All, Says, below, is_
from steptime.diagnosis.environment.commands import LIST_GPUS, WSL_STEPS
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.environment.signs import NO_GPU_LISTED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="windows-cuda-dll-missing",
    title="TensorFlow for Windows (2.10 or older) can't find a CUDA or cuDNN DLL.",
    cause=(
        "CUDA 11.2 and cuDNN 8.1 are not installed, or their bin folders are not on the DLL search "
        "path (order of PATH and the Store's Python are frequent reasons)."
    ),
    remedies=(
        Remedy(
            (
                *WSL_STEPS,
                (
                    "# or stay on 2.10: Python from python.org, CUDA 11.2 and cuDNN 8.1 with both bin folders "
                    "first on PATH; then a new terminal"
                ),
                "where cudart64_110.dll cudnn64_8.dll   # must find both; never fetch single DLLs from the web",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3,
            Says(
                (
                    r"could not load dynamic library '(cudart|cudnn|cublas|cublaslt|cufft|curand|cusolver|"
                    r"cusparse|nvcuda)\w{0,12}\.dll"
                ),
                (
                    r"(cudart|cudnn|cublas|cufft|curand|cusolver|cusparse)64_\w{1,5}\.dll ?(is )?(not found|"
                    r"missing|not on|not in|absent)"
                ),
                r"could not find '?(cudart|cudnn|cublas|nvcuda)\w{0,8}\.dll",
                r"importerror: could not find '(cudart|cudnn|nvcuda)",
                (
                    r"(couldn't open|could not open|unable to (load|open)|cannot (load|open)|can't (load|open|"
                    r"find)).{0,40}(cudart|cudnn|cublas|cufft|curand|cusolver|cusparse|nvcuda)(64_\w{1,5})?\.dll"
                ),
                r"could not locate (zlibwapi|cudnn_ops_infer64_8|cudnn_cnn_infer64_8)\.dll",
            ),
        ),
        Clue(2.0, All(WINDOWS, below("tensorflow", "2.11"), NO_GPU_LISTED)),
        Clue(0.5, All(WINDOWS, below("tensorflow", "2.11"))),
    ),
    commonness=2,
    unless=(is_("os", "linux", "macos"),),
    consequences=(
        "windows-native-no-gpu",
        "cudnn-handle-init-failed",
        "libcuda-missing",
        "cuda-libs-not-installed",
        "cuda-lib-not-found",
    ),
    decide="where cudart64_110.dll cudnn64_8.dll",
    fires=(
        Case(
            log=(
                "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic "
                "library 'cudnn64_8.dll'; dlerror: cudnn64_8.dll not found"
            ),
            stated=("platform=windows", "tensorflow=2.9"),
        ),
    ),
    silent=(
        Case(
            log=(
                "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared "
                "object file"
            ),
            stated=("platform=linux", "tensorflow=2.9"),
        ),
    ),
)
