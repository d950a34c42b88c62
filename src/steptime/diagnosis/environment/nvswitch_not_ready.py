"""An NVSwitch system is not initialised."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="fabric-manager-missing",
    title="The NVSwitch system is not initialised: the fabric manager is missing.",
    cause=(
        "On HGX and DGX machines CUDA waits for the service nvidia-fabricmanager, whose version must "
        "be exactly the driver's."
    ),
    remedies=(
        Remedy(
            (
                "sudo apt install nvidia-fabricmanager-$(cut -d. -f1 /sys/module/nvidia/version)",
                "sudo systemctl enable --now nvidia-fabricmanager   # on the host",
            )
        ),
    ),
    verify="systemctl is-active nvidia-fabricmanager && " + LIST_GPUS,
    clues=(
        Clue(
            3.4,
            Says(
                r"cuda_error_system_not_ready",
                r"system not yet initialized",
                r"error 802",
                r"cudaerrorsystemnotready",
            ),
        ),
        Clue(3.4, is_("cuinit", "cuda_error_system_not_ready")),
        Clue(1.5, Says(r"fabric ?manager")),
        Clue(0.7, is_("nvswitch", True)),
    ),
    commonness=0,
    consequences=("cuda-visible-devices", "no-driver-loaded", "cuda-libs-not-installed"),
    decide="systemctl status nvidia-fabricmanager",
    fires=(
        Case(
            log="failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized",
            stated=("platform=linux",),
        ),
    ),
    silent=(Case(log="failed call to cuInit: CUDA_ERROR_NO_DEVICE", stated=("platform=linux",)),),
)
