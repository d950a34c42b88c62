"""One or two CUDA libraries can't be opened."""

from steptime.diagnosis.condition import All, Check, Says, is_
from steptime.diagnosis.environment.commands import INSTALL, LIST_GPUS
from steptime.diagnosis.environment.signs import SKIPPED_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

_LIBRARY = r"(cusolver|cudnn|cublas|cublaslt|cufft|curand|cusparse|nvrtc|cupti|nccl|nvjitlink)"


RULE = Rule(
    kind="cuda-lib-not-found",
    title="One of the CUDA libraries can't be opened.",
    cause=(
        "The CUDA set is incomplete: the wanted name belongs to another CUDA version "
        "(libcusolver.so.11 comes with 11.1 and later), cuDNN was never installed, or a library that "
        "it depends on is absent."
    ),
    remedies=(
        Remedy(
            (
                INSTALL + "   # installs the whole matching set; up to 2.13 upgrade first",
                "# never link a library under another name: it would crash later",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3,
            Says(
                rf"could not load dynamic library 'lib{_LIBRARY}\w{{0,20}}\.so",
                rf"lib{_LIBRARY}\w{{0,20}}\.so(\.\d{{1,2}}){{0,3}}: (cannot open|undefined symbol|version)",
                rf"could not (load|open|find)( dynamic| the)?( library| file)? ?['\"]?lib{_LIBRARY}",
                rf"could not dlopen library 'lib{_LIBRARY}",
                rf"unable to load (any of )?.{{0,6}}lib{_LIBRARY}",
                r"libnvjitlink\.so",
                rf"couldn't open cuda library lib{_LIBRARY}",
                r"invalid handle\. cannot load symbol cudnn",
                rf"lib{_LIBRARY}\w{{0,20}}\.so(\.\d{{1,2}}){{0,2}} ?(is )?(not found|missing|absent)",
            ),
        ),
        Clue(2.0, SKIPPED_GPUS),
        Clue(
            2.4,
            All(
                Check("libs_missing", test=lambda names: len(names) > 0),
                Check("cudart", test=lambda found: found in {"wheel", "path"}),
            ),
        ),
    ),
    commonness=2,
    unless=(is_("gpu_vendor", "none", "amd", "apple"), is_("os", "windows")),
    consequences=(
        "cuda-libs-not-installed",
        "and-cuda-libs-not-found",
        "cudnn-handle-init-failed",
        "ld-library-path-conflict",
    ),
    decide="Which library does the first line with 'Could not load dynamic library' name?",
    clear=(
        "All CUDA libraries that TensorFlow wants can be opened.",
        All(is_("cudart", "wheel", "path"), Check("libs_missing", test=lambda names: not names)),
    ),
    fires=(
        Case(
            log=(
                "W dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: "
                "cannot open shared object file: No such file or directory"
            ),
            stated=("platform=linux", "tensorflow=2.11"),
        ),
    ),
    silent=(
        Case(
            log=(
                "Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open "
                "shared object file"
            )
        ),
    ),
)
