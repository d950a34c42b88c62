import pytest

from steptime.device.rapl import Rapl


def zone(root, name, kind, energy_uj, range_uj=1_000_000):
    folder = root / "sys/class/powercap" / name
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{kind}\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    (folder / "max_energy_range_uj").write_text(f"{range_uj}\n")
    return folder / "energy_uj"


def test_packages_and_memory_are_summed_and_parts_of_packages_are_not(tmp_path):
    package = zone(tmp_path, "intel-rapl:0", "package-0", 100)
    core = zone(tmp_path, "intel-rapl:0:0", "core", 100)
    dram = zone(tmp_path, "intel-rapl:0:1", "dram", 100)
    platform = zone(tmp_path, "intel-rapl:1", "psys", 100)
    rapl = Rapl(tmp_path)
    assert rapl.energy_j() == 0.0
    for counter in (package, core, dram, platform):
        counter.write_text("200100")
    assert rapl.energy_j() == pytest.approx(0.4)


def test_a_counter_that_wraps_goes_on(tmp_path):
    counter = zone(tmp_path, "intel-rapl:0", "package-0", 999_990, range_uj=1_000_000)
    rapl = Rapl(tmp_path)
    counter.write_text("9")
    assert rapl.energy_j() == pytest.approx(20e-6)


def test_without_counters_the_reason_says_so(tmp_path):
    rapl = Rapl(tmp_path)
    assert rapl.energy_j() is None
    assert "no energy counter" in rapl.unavailable


def test_counters_that_only_root_reads_are_a_reason(tmp_path, monkeypatch):
    zone(tmp_path, "intel-rapl:0", "package-0", 100)
    read_text = type(tmp_path).read_text

    def guarded(path, *args, **kwargs):
        if path.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return read_text(path, *args, **kwargs)

    monkeypatch.setattr(type(tmp_path), "read_text", guarded)
    rapl = Rapl(tmp_path)
    assert rapl.energy_j() is None
    assert "root" in rapl.unavailable


def test_a_counter_with_nonsense_is_a_reason_and_one_that_vanishes_is_unknown(tmp_path):
    counter = zone(tmp_path, "intel-rapl:0", "package-0", "nonsense")
    assert "cannot be read" in Rapl(tmp_path).unavailable
    counter.write_text("5")
    rapl = Rapl(tmp_path)
    counter.unlink()
    assert rapl.energy_j() is None
