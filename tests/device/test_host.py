import getpass
import platform

import pytest

from steptime.device.host import describe_host

CPUINFO = """processor\t: 0
model name\t: Intel(R) Xeon(R)   CPU @ 2.20GHz
flags\t\t: fpu sse2 avx avx2 fma hypervisor avx512f
"""


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_processor_system_and_limits_are_read(tmp_path):
    write(
        tmp_path,
        {
            "proc/cpuinfo": CPUINFO,
            "etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/cpu.max": "50000 100000\n",
            "sys/fs/cgroup/memory.max": "1073741824\n",
        },
    )
    host = describe_host(tmp_path, {})
    assert host.cpu_features == ("avx", "avx2", "fma", "avx512f")
    assert host.virtual_machine is True
    assert host.cpu_quota_cores == 0.5
    assert host.memory_limit_bytes == 2**30
    assert host.cpu_model == "Intel(R) Xeon(R) CPU @ 2.20GHz"
    if platform.system() == "Linux":
        assert host.os_release == "Debian GNU/Linux 12 (bookworm)"
    assert (host.wsl, host.container) == (None, None)


@pytest.mark.parametrize(
    ("files", "environ", "kind"),
    [
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({}, {"APPTAINER_CONTAINER": "/x.sif"}, "apptainer"),
        ({"proc/self/cgroup": "0::/kubepods/pod1\n"}, {}, "kubernetes"),
        ({"proc/1/cgroup": "4:cpu:/lxc/box\n"}, {}, "lxc"),
        ({}, {"container": "systemd-nspawn"}, "systemd-nspawn"),
        ({"proc/self/cgroup": "0::/user.slice\n"}, {}, None),
    ],
)
def test_containers_are_recognised(tmp_path, files, environ, kind):
    assert describe_host(write(tmp_path, files), environ).container == kind


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ("5.15.153.1-microsoft-standard-WSL2", "2"),
        ("4.4.0-19041-Microsoft", "1"),
        ("6.1.0-18-amd64", None),
    ],
)
def test_wsl_is_recognised(tmp_path, release, version):
    write(tmp_path, {"proc/sys/kernel/osrelease": release + "\n"})
    assert describe_host(tmp_path, {}).wsl == version


def test_an_empty_system_folder_leaves_unknowns_none(tmp_path):
    host = describe_host(tmp_path, {})
    assert host.virtual_machine is None
    assert host.cpu_features == ()
    assert host.cpu_quota_cores is None


def test_this_machine_is_described_without_its_name_or_user():
    host = describe_host()
    assert host.logical_cores >= host.usable_cores >= 1
    assert host.memory_bytes > 2**28
    assert host.python_version == platform.python_version()
    words = str(host).replace("'", " ").replace(",", " ").split()
    assert platform.node() not in words
    assert f"/{getpass.getuser()}" not in str(host)
