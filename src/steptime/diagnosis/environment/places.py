"""Conditions of the place, which decide what the remedy looks like."""

from steptime.diagnosis.condition import All, Any, Not, is_

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
