import time
from dataclasses import fields
from types import SimpleNamespace
from typing import NamedTuple

import psutil
import pytest

from steptime.device.cpu import Cpu
from steptime.device.device import Sample


class Times(NamedTuple):
    user: float
    system: float
    idle: float
    iowait: float
    steal: float
    guest: float


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def burn(seconds_cpu):
    end = time.process_time() + seconds_cpu
    while time.process_time() < end:
        pass


def test_a_busy_process_is_seen_as_its_own_work():
    cpu = Cpu()
    burn(0.1)
    sample = cpu.sample()
    assert sample.own_utilisation_share > 0
    assert 0 <= sample.utilisation_share <= 1
    assert sample.memory_used_bytes > 2**20


def test_the_machines_share_counts_steal_as_busy_and_guests_once(monkeypatch, tmp_path):
    readings = iter([Times(10, 5, 100, 1, 0, 2), Times(16, 6, 101, 2, 1, 8)])
    monkeypatch.setattr(psutil, "cpu_times", lambda: next(readings))
    cpu = Cpu(root=tmp_path)
    # Of 10 s, 1 was idle and 1 waited for a disk; the guest's 6 are part of the 6 of "user".
    assert cpu.sample().utilisation_share == pytest.approx(0.8)


def test_power_is_energy_over_time(tmp_path):
    folder = tmp_path / "sys/class/powercap/intel-rapl:0"
    write(folder / "name", "package-0\n")
    write(folder / "energy_uj", "0\n")
    write(folder / "max_energy_range_uj", "1000000000000\n")
    cpu = Cpu(root=tmp_path)
    write(folder / "energy_uj", "5000000\n")
    sample = cpu.sample()
    assert sample.energy_j == 5.0
    assert sample.power_w > 0
    assert "power_w" not in cpu.describe().unavailable


def test_a_quota_that_stops_the_process_is_a_throttle_reason(tmp_path):
    write(tmp_path / "proc/self/cgroup", "0::/\n")
    stat = tmp_path / "sys/fs/cgroup/cpu.stat"
    write(stat, "nr_throttled 3\n")
    cpu = Cpu(root=tmp_path)
    assert cpu.sample().throttle_reasons == ()
    write(stat, "nr_throttled 4\n")
    assert cpu.sample().throttle_reasons == ("cpu_quota",)
    assert cpu.sample().throttle_reasons == ()


def test_a_hot_processor_is_a_throttle_reason(tmp_path):
    count = tmp_path / "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count"
    write(count, "10\n")
    cpu = Cpu(root=tmp_path)
    assert cpu.sample().throttle_reasons == ()
    write(count, "12\n")
    assert cpu.sample().throttle_reasons == ("thermal",)
    count.unlink()
    assert cpu.sample().throttle_reasons == ()


def test_the_hottest_sensor_and_the_mean_clock_are_taken(monkeypatch, tmp_path):
    warm, hot, disk = (SimpleNamespace(current=degrees) for degrees in (50.0, 61.0, 80.0))
    readings = {"coretemp": [warm, hot], "nvme": [disk]}
    monkeypatch.setattr(psutil, "sensors_temperatures", lambda: readings, raising=False)
    monkeypatch.setattr(psutil, "cpu_freq", lambda: SimpleNamespace(current=2900.0, max=3500.0))
    cpu = Cpu(root=tmp_path)
    sample = cpu.sample()
    assert (sample.temperature_c, sample.clock_mhz) == (61.0, 2900.0)
    assert cpu.describe().max_clock_mhz == 3500


def test_what_a_machine_lacks_is_none_with_a_reason(monkeypatch, tmp_path):
    def refuse():
        raise FileNotFoundError("cpufreq")

    monkeypatch.setattr(psutil, "cpu_freq", refuse)
    monkeypatch.setattr(psutil, "sensors_temperatures", dict, raising=False)
    monkeypatch.setattr(psutil, "cpu_times", lambda: Times(0, 0, 0, 0, 0, 0))
    cpu = Cpu(root=tmp_path)
    sample, facts = cpu.sample(), cpu.describe()
    assert sample.utilisation_share is None
    for quantity in fields(Sample):
        if getattr(sample, quantity.name) is None:
            assert quantity.name in facts.unavailable
    assert {"clock_mhz", "temperature_c", "power_w", "energy_j", "throttle_reasons"} <= set(facts.unavailable)


def test_a_memory_limit_is_the_devices_memory(tmp_path):
    write(tmp_path / "proc/self/cgroup", "0::/\n")
    write(tmp_path / "sys/fs/cgroup/memory.max", "1048576\n")
    assert Cpu(root=tmp_path).describe().memory_bytes == 1048576
