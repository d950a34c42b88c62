import pytest

from steptime.environment.stated import read_stated
from steptime.environment.told import read_told
from steptime.errors import UsageError


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("platform=Windows 11 Home", {"os": "windows", "wsl": False}),
        ("platform=Win 11, WSL2 with Ubuntu 22.04", {"os": "linux", "wsl": True}),
        ("OS=Ubuntu 24.04 in Docker", {"os": "linux", "container": "docker"}),
        ("platform=singularity on a Slurm cluster", {"container": "apptainer", "scheduler": "slurm"}),
        ("platform=kubernetes pod", {"container": "kubernetes", "os": "linux"}),
        ("platform=Google Colab", {"hosted": "colab", "os": "linux"}),
        ("platform=Jetson Orin, JetPack 6", {"jetson": True, "arch": "aarch64"}),
        ("platform=macOS 15 (Apple M2)", {"os": "macos"}),
        ("platform=linux aarch64", {"os": "linux", "arch": "aarch64"}),
        ("tensorflow=2.16.1", {"tensorflow": "2.16.1"}),
        ("TF=v2.13.0-rc2-7-g1cb1a030a62 2.13.0", {"tensorflow": "2.13.0"}),
        ("tf_version=2.13.0 wanted, 2.19.0 present", {"tensorflow": "2.19.0", "tensorflow_wanted": "2.13.0"}),
        ("tensorflow=2.14 (rocm)", {"tensorflow": "2.14", "tensorflow_build": "rocm"}),
        ("python=Python 3.12.1 (64 bit)", {"python": "3.12.1"}),
        ("gpu=NVIDIA GeForce RTX 5090", {"gpu_vendor": "nvidia", "gpu_cc": "12.0"}),
        ("gpu=4x A100", {"gpu_vendor": "nvidia", "gpu_count": 4}),
        ("gpu=Radeon RX 7900 XTX", {"gpu_vendor": "amd"}),
        ("gpu=none", {"gpu_vendor": "none"}),
        ("driver=555.99 (WDDM)", {"driver": "555.99"}),
        ("cuda=12.4", {"cuda_toolkit": "12.4"}),
        ("cuda=13.1 (driver)", {"driver_cuda": "13.1"}),
        ("CUDA_VISIBLE_DEVICES=-1", {"visible_devices": "-1"}),
        ("numpy=2.1.0", {"numpy": "2.1.0"}),
        ("note=it works with sudo", {"works_as_root": True}),
        ("what happened=since the laptop woke up from sleep", {"after_suspend": True}),
        ("nouveau=yes", {"nouveau": True}),
        ("glibc=2.17", {"glibc": "2.17"}),
    ],
)
def test_facts_are_understood_as_people_write_them(statement, expected):
    facts = read_stated([statement])
    assert {name: facts.get(name) for name in expected} == expected


def test_a_statement_that_says_nothing_known_is_kept_as_text():
    facts = read_stated(["weather=rainy"])
    assert not facts.values
    assert facts.texts == ("weather: rainy",)


def test_a_statement_without_a_value_is_refused():
    with pytest.raises(UsageError, match="KEY=VALUE"):
        read_stated(["linux"])


def test_several_gpus_give_the_lowest_and_the_highest_capability():
    facts = read_stated(["gpu=GTX 1080 and RTX 3090"])
    assert (facts.get("gpu_cc"), facts.get("gpu_cc_max")) == ("6.1", "8.6")


def test_what_a_person_states_wins_over_the_log():
    facts = read_told(["TensorFlow version: 2.9.1"], ["tensorflow=2.18"])
    assert facts.get("tensorflow") == "2.18"
    assert facts.origins["tensorflow"] == "stated"
