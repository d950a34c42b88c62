"""Conditions of the place, which decide what the remedy looks like."""

from steptime.diagnosis.condition import All, Any, Condition, Not, is_, more

WSL = is_("wsl", True)
WINDOWS = All(is_("os", "windows"), Not(Any(is_("wsl", True), is_("os", "linux"))))
LINUX = is_("os", "linux")
MACOS = is_("os", "macos")
ARM = All(is_("arch", "aarch64"), is_("os", "linux"))
CONTAINER = is_("container", "docker", "podman", "kubernetes", "other")
KUBERNETES = is_("container", "kubernetes")
APPTAINER = is_("container", "apptainer")
LXC = is_("container", "lxc")
COLAB = is_("hosted", "colab", "kaggle")
CLUSTER = is_("scheduler", "slurm", "pbs", "lsf", "sge")
CONDA = is_("conda", True)
NOT_NVIDIA = is_("gpu_vendor", "amd", "apple", "intel", "none")
WINDOWS_OR_MACOS = Any(WINDOWS, MACOS)
WINDOWS_OR_WSL = Any(WINDOWS, WSL)
NVIDIA_GPU = is_("gpu_vendor", "nvidia")
BLACKWELL = more("gpu_cc_max", 9.9)
JETSON = is_("jetson", True)
SLURM = is_("scheduler", "slurm")
ONE_GPU = Any(is_("gpu_count", 0, 1), is_("gpu_vendor", "none"))

NAMES: tuple[tuple[Condition, str], ...] = (
    (WSL, "In WSL"),
    (WINDOWS, "On native Windows"),
    (MACOS, "On macOS"),
    (CONTAINER, "In a container"),
    (KUBERNETES, "In a Kubernetes pod"),
    (APPTAINER, "With Apptainer or Singularity"),
    (LXC, "In an LXC container"),
    (COLAB, "On Colab and Kaggle"),
    (NOT_NVIDIA, "Without an NVIDIA GPU"),
    (WINDOWS_OR_MACOS, "On native Windows and macOS"),
    (WINDOWS_OR_WSL, "On Windows and in WSL"),
    (NVIDIA_GPU, "With an NVIDIA GPU"),
    (BLACKWELL, "With a Blackwell GPU"),
    (JETSON, "On a Jetson"),
    (SLURM, "On a Slurm cluster"),
)
"""What the manual calls these places."""
