from pathlib import Path

import pytest

from steptime.environment.driver import read_driver_files
from steptime.environment.machine import read_machine
from steptime.environment.place import Place


def place(root: Path, files: dict[str, str], **environ: str) -> Place:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Place(root=root, environ=environ)


@pytest.mark.parametrize(
    ("files", "environ", "kind"),
    [
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "x"}, "kubernetes"),
        ({}, {"APPTAINER_NAME": "image.sif"}, "apptainer"),
        ({}, {"container": "lxc"}, "lxc"),
        ({"run/systemd/container": "systemd-nspawn\n"}, {}, "other"),
        ({}, {}, "none"),
    ],
)
def test_the_kind_of_container_is_recognised(tmp_path, files, environ, kind):
    assert read_machine(place(tmp_path, files, **environ))["container"] == kind


def test_wsl_is_recognised_by_its_kernel(tmp_path):
    facts = read_machine(place(tmp_path, {"proc/version": "Linux version 5.15.90.1-microsoft-standard-WSL2"}))
    assert facts["wsl"] is True
    assert facts["dev_dxg"] is False


def test_a_slurm_job_without_and_with_a_gpu(tmp_path):
    assert read_machine(place(tmp_path, {}, SLURM_JOB_ID="7"))["job_gpus"] is False
    facts = read_machine(place(tmp_path, {}, SLURM_JOB_ID="7", SLURM_JOB_GPUS="0"))
    assert (facts["scheduler"], facts["job_gpus"]) == ("slurm", True)


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2.0),
        ({"sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        (
            {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "150000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"},
            1.5,
        ),
        ({"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}, None),
        ({}, None),
    ],
)
def test_the_processor_quota_is_read_from_either_version_of_cgroups(tmp_path, files, quota):
    assert read_machine(place(tmp_path, files))["cpu_quota"] == quota


@pytest.mark.parametrize(("flags", "avx"), [("fpu sse2 avx avx2", True), ("fpu sse2", False)])
def test_avx_is_read_from_the_processor_flags(tmp_path, flags, avx):
    assert read_machine(place(tmp_path, {"proc/cpuinfo": f"flags\t\t: {flags}\n"}))["cpu_avx"] is avx


def test_without_processor_information_avx_is_unknown(tmp_path):
    assert read_machine(place(tmp_path, {}))["cpu_avx"] is None


@pytest.mark.parametrize(
    ("value", "hidden"), [("-1", True), ("", True), ("0", False), ("1,0", False), (None, False)]
)
def test_hiding_values_of_cuda_visible_devices(tmp_path, value, hidden):
    environ = {} if value is None else {"CUDA_VISIBLE_DEVICES": value}
    facts = read_machine(place(tmp_path, {}, **environ))
    assert facts["gpus_hidden"] is hidden
    assert facts["visible_devices"] == value


def test_folders_of_the_loader_path_that_hold_cuda_or_its_stub_are_named(tmp_path):
    here = place(
        tmp_path,
        {"usr/local/cuda/lib64/libcudnn.so.8": ""},
        LD_LIBRARY_PATH="/usr/local/cuda/lib64:/usr/local/cuda/lib64/stubs/",
    )
    facts = read_machine(here)
    assert facts["loader_path_cuda"] == "/usr/local/cuda/lib64"
    assert facts["loader_path_stubs"] is True


def test_a_gpu_with_nouveau_and_no_driver(tmp_path):
    device = "sys/bus/pci/devices/0000:01:00.0"
    facts = read_driver_files(
        place(
            tmp_path,
            {
                f"{device}/class": "0x030000\n",
                f"{device}/vendor": "0x10de\n",
                "proc/modules": "nouveau 1 0 - Live\n",
                "proc/version": "Linux",
                "dev/null": "",
            },
        )
    )
    assert facts["gpu_on_pci"] is True
    assert facts["gpu_vendor"] == "nvidia"
    assert facts["nouveau"] is True
    assert facts["kernel_module"] == "none"
    assert facts["dev_nvidia"] is False


def test_a_loaded_driver_and_its_nodes(tmp_path):
    version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19"
    nodes = {f"dev/{name}": "" for name in ("null", "nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-modeset")}
    facts = read_driver_files(
        place(tmp_path, {"proc/driver/nvidia/version": version, "proc/version": "Linux", **nodes})
    )
    assert facts["kernel_module"] == "535.129.03"
    assert (facts["dev_nvidia"], facts["dev_uvm"], facts["dev_access"]) == (True, True, True)


def test_secure_boot_is_the_last_byte_of_the_firmware_variable(tmp_path):
    folder = tmp_path / "sys/firmware/efi/efivars"
    folder.mkdir(parents=True)
    (folder / "SecureBoot-8be4df61").write_bytes(b"\x06\x00\x00\x00\x01")
    assert read_driver_files(Place(root=tmp_path, environ={}))["secure_boot"] is True


def test_an_unreadable_machine_gives_unknown_and_not_false(tmp_path):
    facts = read_driver_files(Place(root=tmp_path, environ={}))
    assert facts["gpu_on_pci"] is None
    assert facts["kernel_module"] is None
    assert facts["nouveau"] is None
    assert facts["secure_boot"] is None
