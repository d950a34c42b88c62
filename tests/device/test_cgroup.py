import pytest

from steptime.device.cgroup import cpu_quota_cores, memory_limit_bytes, throttle_files, throttled_periods


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_version_2_limits_are_read_and_the_smallest_one_above_holds(tmp_path):
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/jobs/mine\n",
            "sys/fs/cgroup/jobs/mine/cpu.max": "max 100000\n",
            "sys/fs/cgroup/jobs/mine/memory.max": "8589934592\n",
            "sys/fs/cgroup/jobs/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/jobs/memory.max": "max\n",
            "sys/fs/cgroup/memory.max": "4294967296\n",
        },
    )
    assert cpu_quota_cores(tmp_path) == 1.5
    assert memory_limit_bytes(tmp_path) == 4 * 2**30


def test_version_1_limits_are_read_from_the_top_when_the_path_is_the_hosts(tmp_path):
    write(
        tmp_path,
        {
            "proc/self/cgroup": "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
        },
    )
    assert cpu_quota_cores(tmp_path) == 2.0
    assert memory_limit_bytes(tmp_path) == 2**30


def test_version_1_without_limits_is_none(tmp_path):
    write(
        tmp_path,
        {
            "proc/self/cgroup": "5:memory:/\n4:cpu:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        },
    )
    assert cpu_quota_cores(tmp_path) is None
    assert memory_limit_bytes(tmp_path) is None


@pytest.mark.parametrize("text", ["", "0::/gone\n", "nonsense", "0::/\n"])
def test_without_control_groups_nothing_is_known(tmp_path, text):
    write(tmp_path, {"proc/self/cgroup": text})
    assert cpu_quota_cores(tmp_path) is None
    assert memory_limit_bytes(tmp_path) is None
    assert throttled_periods(throttle_files(tmp_path)) is None


@pytest.mark.parametrize("text", ["garbage", "12 0", "", "max"])
def test_odd_quota_files_are_passed_over(tmp_path, text):
    write(tmp_path, {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": text})
    assert cpu_quota_cores(tmp_path) is None


def test_throttled_periods_are_counted(tmp_path):
    stat = "usage_usec 10\nnr_periods 40\nnr_throttled 7\nthrottled_usec 99\n"
    write(
        tmp_path,
        {"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.stat": stat, "sys/fs/cgroup/cpu.stat": "x 1"},
    )
    files = throttle_files(tmp_path)
    assert files == (tmp_path / "sys/fs/cgroup/a/cpu.stat",)
    assert throttled_periods(files) == 7
