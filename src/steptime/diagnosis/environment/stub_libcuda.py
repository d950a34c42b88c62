"""CUDA's stub library is loaded instead of the driver."""

from steptime.diagnosis.condition import Check, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.places import CONTAINER
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="stub-libcuda",
    title="CUDA's stub library is loaded instead of the driver's library.",
    cause=(
        "stubs/libcuda.so exists only for linking; the loader finds it because a stubs folder is in "
        "LD_LIBRARY_PATH or ld.so.conf."
    ),
    remedies=(
        Remedy(
            (
                (
                    "# Dockerfile: take /usr/local/cuda/lib64/stubs out of LD_LIBRARY_PATH and /etc/ld.so.conf.d,"
                    " then run ldconfig"
                ),
                "# run the model at container start (docker run --gpus all), not in a RUN step",
            ),
            CONTAINER,
        ),
        Remedy(
            (
                "export LD_LIBRARY_PATH=$(echo \"$LD_LIBRARY_PATH\" | tr ':' '\\n' | grep -v '/stubs' | paste -sd:)",
                "grep -rn stubs /etc/ld.so.conf.d   # remove such lines, then: sudo ldconfig",
            )
        ),
    ),
    verify=LIST_GPUS,
    clues=(
        Clue(
            3.4,
            Says(
                r"cuda driver is a stub li",
                r"cuda_error_stub_library",
                r"cudaerrorstublibrary",
                r"error 34(?!\d)",
            ),
        ),
        Clue(3, is_("loader_path_stubs", True)),
        Clue(3.4, is_("cuinit", "cuda_error_stub_library")),
        Clue(3, is_("libcuda", "stub")),
        Clue(2.4, Says(r"stubs/libcuda\.so", r"(?<!:)ld_library_path.{0,300}/stubs")),
    ),
    commonness=1,
    consequences=("docker-no-gpus-flag", "libcuda-missing", "no-driver-loaded"),
    decide="echo $LD_LIBRARY_PATH | tr ':' '\\n' | grep stubs",
    clear=(
        "No stub of the driver's library is in the way.",
        Check("libcuda", test=lambda found: str(found) not in {"missing", "stub"}),
    ),
    fires=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_STUB_LIBRARY: CUDA driver is a stub library",
            stated=("platform=linux",),
        ),
    ),
    silent=(Case(log="failed call to cuInit: CUDA_ERROR_NO_DEVICE", stated=("platform=linux",)),),
)
