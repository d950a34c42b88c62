"""Docker can't select a GPU driver."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.commands import DOCKER_TEST
from steptime.diagnosis.environment.places import WINDOWS_OR_WSL
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="docker-toolkit-missing",
    title="Docker has no NVIDIA runtime.",
    cause=(
        "The NVIDIA container toolkit is not installed or not configured, or Docker is a snap "
        "package, or Docker Desktop runs without WSL2."
    ),
    remedies=(
        Remedy(
            (
                (
                    "# Docker Desktop: Settings > General > Use the WSL 2 based engine; NVIDIA driver for "
                    "Windows installed; then:"
                ),
                DOCKER_TEST,
            ),
            WINDOWS_OR_WSL,
        ),
        Remedy(
            (
                "sudo apt install nvidia-container-toolkit   # from NVIDIA's package source",
                "sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker",
                DOCKER_TEST,
            )
        ),
    ),
    verify=DOCKER_TEST,
    clues=(
        Clue(
            3.4,
            Says(
                r"could not select device driver",
                r"unknown runtime specified nvidia",
                r"unknown or invalid runtime name: nvidia",
                r"unknown flag: --gpus",
                (
                    r"nvidia-container-(cli|runtime)(-hook)?.{0,80}(not found|no such file|executable file not "
                    r"found|initialization error)"
                ),
                r"error running hook.{0,200}nvidia",
                r"nvidia-container-runtime.{0,40}not installed",
                r"failed to discover gpu vendor from cdi",
                r"(lists?|shows?|has|with) no nvidia runtime",
                r"nvidia[- ]container[- ]toolkit (is )?(not|missing|absent)",
                r"(no|without|missing) (the )?nvidia[- ]container[- ]toolkit",
                r"nvidia-docker2? (is )?not installed",
            ),
        ),
    ),
    commonness=3,
    consequences=(
        "docker-no-gpus-flag",
        "no-driver-loaded",
        "libcuda-missing",
        "windows-native-no-gpu",
        "driver-library-mismatch",
    ),
    decide="docker info | grep -i runtimes",
    fires=(
        Case(
            log='docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'
        ),
    ),
    silent=(Case(log="docker: Error response from daemon: pull access denied for image"),),
)
