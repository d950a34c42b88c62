"""The profiler may not use the GPU's counters."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.environment.places import CONTAINER, WINDOWS
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="cupti-privileges",
    title="The profiler may not read the GPU's counters (CUPTI).",
    cause="By default the driver lets only root use them, so a profile has no GPU events.",
    remedies=(
        Remedy(
            (
                (
                    "docker run --rm -it --gpus all --cap-add=SYS_ADMIN IMAGE   # or lift the limit on the host, "
                    "as for Linux"
                ),
            ),
            CONTAINER,
        ),
        Remedy(
            (
                "# NVIDIA control panel > Developer > Manage GPU performance counters > Allow access to all users",
            ),
            WINDOWS,
        ),
        Remedy(
            (
                (
                    "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
                    "/etc/modprobe.d/nvidia-profiling.conf"
                ),
                "sudo update-initramfs -u && sudo reboot",
            )
        ),
    ),
    verify="grep RmProfilingAdminOnly /proc/driver/nvidia/params   # must be 0",
    clues=(
        Clue(
            3.4,
            Says(
                r"cupti_error_insufficient_privileges",
                r"err_nvgpuctrperm",
                r"insufficient privilege.{0,80}cupti|cupti.{0,80}insufficient privilege",
            ),
        ),
        Clue(
            2.4,
            Says(
                r"cupti(?!.{0,8}\.so.{0,8}(successfully|opened)).{0,80}(error|fail|could not|cannot|not)",
                r"(could not load|failed to load|cannot).{0,40}libcupti",
                r"cupti_error_\w{3,40}",
                r"libcupti\.so\..{1,6}'?; dlerror",
            ),
        ),
    ),
    commonness=2,
    decide="Run the profiler once as root: are GPU events there?",
    fires=(
        Case(
            log="function cupti_interface_->Subscribe failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
        ),
    ),
    silent=(Case(log="Profiler session started.\nSuccessfully opened dynamic library libcupti.so.11.2"),),
)
