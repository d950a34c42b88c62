"""A running container lost its GPU."""

from steptime.diagnosis.condition import All, Says, is_
from steptime.diagnosis.environment.places import CONTAINER
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="container-lost-gpu",
    title="A running container lost its access to the GPU.",
    cause=(
        "systemctl daemon-reload makes systemd apply the container's device rules again, without the "
        "NVIDIA devices (runc with the systemd cgroup driver)."
    ),
    remedies=(
        Remedy(
            (
                "docker restart CONTAINER",
                (
                    "sudo nvidia-ctk system create-dev-char-symlinks --create-all   # lasting; or use CDI, or "
                    'the cgroupfs driver in /etc/docker/daemon.json: "exec-opts": '
                    '["native.cgroupdriver=cgroupfs"]'
                ),
                (
                    "# or pass the devices one by one: --device /dev/nvidia0 --device /dev/nvidiactl --device "
                    "/dev/nvidia-uvm"
                ),
            )
        ),
    ),
    verify="docker exec CONTAINER nvidia-smi; sudo systemctl daemon-reload; docker exec CONTAINER nvidia-smi",
    clues=(
        Clue(3, Says(r"failed to initialize nvml: unknown error")),
        Clue(3, is_("nvml", "unknown")),
        Clue(2.8, Says(r"unknown error (in|inside) .{0,20}(container|docker|pod)")),
        Clue(
            2.4,
            Says(
                r"daemon-reload", r"(container|docker|pod).{0,80}(lost|loses|lose|loosing|losing) .{0,20}gpu"
            ),
        ),
        Clue(1.0, All(CONTAINER, is_("worked_before", True))),
        Clue(0.3, CONTAINER),
    ),
    commonness=3,
    consequences=(
        "docker-no-gpus-flag",
        "cuda-visible-devices",
        "uvm-device-missing",
        "no-driver-loaded",
        "cuinit-unknown-after-suspend",
    ),
    decide="nvidia-smi on the host (works) and in the container (Unknown Error)?",
    fires=(Case(log="Failed to initialize NVML: Unknown Error", stated=("platform=docker",)),),
    silent=(
        Case(log="Failed to initialize NVML: Driver/library version mismatch", stated=("platform=docker",)),
    ),
)
