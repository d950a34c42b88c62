"""The driver's kernel module and library are of different versions."""

from steptime.diagnosis.condition import Check, Says, is_
from steptime.diagnosis.environment.commands import REBOOT
from steptime.diagnosis.environment.places import CONTAINER
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule
from steptime.environment.versions import compare

RULE = Rule(
    kind="driver-library-mismatch",
    title="The driver's kernel module and its libraries are of different versions.",
    cause=(
        "The driver packages were upgraded (often by unattended upgrades) while the old module stays "
        "loaded, or two driver installations are mixed."
    ),
    remedies=(
        Remedy(
            (
                "sudo reboot   # the host; then start the container again",
                (
                    "# libraries of a driver inside the image (libcuda, libnvidia-ml) must go: the toolkit "
                    "mounts the host's"
                ),
            ),
            CONTAINER,
        ),
        Remedy(
            (
                REBOOT,
                "# if it returns: sudo apt purge 'nvidia*' 'libnvidia*' && sudo ubuntu-drivers install && sudo reboot",
            )
        ),
    ),
    verify="cat /proc/driver/nvidia/version; nvidia-smi",
    clues=(
        Clue(
            3.6,
            Says(
                r"driver/library version mismatch",
                r"does not match dso version",
                r"cuda_error_system_driver_mismatch",
                r"unsupported display driver ?/ ?cuda driver combination",
                r"api mismatch: ?(the )?(nvidia )?(client|kernel)",
                r"error 803",
            ),
        ),
        Clue(
            2.8,
            Check(
                "kernel_module",
                "libcuda",
                test=lambda module, library: (
                    all(str(v)[:1].isdigit() for v in (module, library))
                    and compare(str(module), str(library)) != 0
                ),
            ),
        ),
        Clue(3, is_("cuinit", "cuda_error_system_driver_mismatch")),
        Clue(2.6, is_("nvml", "mismatch")),
    ),
    commonness=3,
    consequences=(
        "forward-compat-unsupported",
        "no-driver-loaded",
        "uvm-device-missing",
        "cuda-visible-devices",
        "cuda-libs-not-installed",
        "container-lost-gpu",
    ),
    decide="cat /proc/driver/nvidia/version; ls /usr/lib/x86_64-linux-gnu/libcuda.so.*",
    clear=(
        "The driver's kernel module and library have the same version.",
        Check("kernel_module", "libcuda", test=lambda module, library: str(module) == str(library)),
    ),
    fires=(
        Case(
            log="Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.183",
            stated=("platform=linux",),
        ),
    ),
    silent=(
        Case(
            log="kernel reported version is: 535.54.3\nlibcuda reported version is: 535.54.3",
            stated=("platform=linux",),
        ),
    ),
)
