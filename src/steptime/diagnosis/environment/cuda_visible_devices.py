"""CUDA_VISIBLE_DEVICES hides the GPU."""

from steptime.diagnosis.condition import All, Any, Check, Not, Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.places import WINDOWS
from steptime.diagnosis.environment.signs import NO_DEVICE, NO_GPU_LISTED
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule


def _suspicious(value: object) -> bool:
    """Whether the value hides all GPUs of a machine with one of them, or may do so."""
    first = str(value).split(",")[0].strip().strip("'\"").lower()
    return first in {"", "-1", "none", "nodevfiles", "void"} or (first.isdigit() and int(first) > 0)


def _too_high(value: object, count: object) -> bool:
    first = str(value).split(",")[0].strip()
    return first.isdigit() and int(first) >= int(str(count))


RULE = Rule(
    kind="cuda-visible-devices",
    title="CUDA_VISIBLE_DEVICES hides the GPU.",
    cause=(
        "CUDA counts devices up to the first entry that does not exist; -1, an empty value, an index "
        "that is too high or a wrong UUID hide everything after it. Scripts and libraries may set "
        "the variable themselves."
    ),
    remedies=(
        Remedy(("set CUDA_VISIBLE_DEVICES=", "findstr /s /i CUDA_VISIBLE_DEVICES *.py"), WINDOWS),
        Remedy(
            (
                "unset CUDA_VISIBLE_DEVICES   # or an index from: nvidia-smi -L",
                "grep -rn CUDA_VISIBLE_DEVICES --include='*.py' . ; grep -n CUDA_VISIBLE_DEVICES ~/.bashrc ~/.profile",
            )
        ),
    ),
    verify="env -u CUDA_VISIBLE_DEVICES " + LIST_GPUS,
    clues=(
        Clue(2.2, Any(NO_DEVICE, is_("cuinit", "cuda_error_no_device"))),
        Clue(
            3.4,
            Says(r"cuda_visible_devices is set to .{0,30}hides all gpus", r"this hides all gpus from cuda"),
        ),
        Clue(3, is_("gpus_hidden", True)),
        Clue(
            1.2,
            All(
                Check("visible_devices", test=_suspicious),
                Any(
                    NO_DEVICE, NO_GPU_LISTED, is_("tensorflow_gpus", 0), is_("cuinit", "cuda_error_no_device")
                ),
            ),
        ),
        Clue(2.1, Check("visible_devices", "gpu_count", test=_too_high)),
        Clue(
            2.2,
            Says(
                r"cuda_visible_devices['\"]?\]? ?(=|:|to|is) ?['\"]?(-1|['\"]['\"])",
                r"(sets?|export|remov\w{1,3}|unset\w{0,4}) cuda_visible_devices",
                r"invalid (value for )?cuda_visible_devices",
            ),
        ),
        Clue(1.5, is_("cuinit", "cuda_error_invalid_device")),
        Clue(
            -1,
            All(Check("visible_devices", test=lambda v: not _suspicious(v)), Not(is_("gpus_hidden", True))),
        ),
    ),
    commonness=2,
    unless=(is_("gpu_vendor", "none", "amd", "apple"),),
    consequences=("cuda-libs-not-installed", "uvm-device-missing"),
    decide="echo \"[$CUDA_VISIBLE_DEVICES]\"; nvidia-smi -L; grep -rn CUDA_VISIBLE_DEVICES --include='*.py' .",
    clear=(
        "CUDA_VISIBLE_DEVICES does not hide the GPU.",
        All(is_("gpu_vendor", "nvidia"), is_("gpus_hidden", False)),
    ),
    fires=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
            stated=("platform=linux", "CUDA_VISIBLE_DEVICES=1"),
        ),
        Case(
            log=(
                "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nlibcuda "
                "reported version is: 535.54.3\nkernel reported version is: 535.54.3"
            ),
            stated=("platform=linux",),
        ),
    ),
    silent=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_NO_DEVICE",
            stated=("platform=linux", "gpu=AMD Radeon RX 6800"),
        ),
    ),
)
