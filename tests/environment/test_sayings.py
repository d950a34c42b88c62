import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.environment import said_of_driver, said_of_machine, said_of_packages
from steptime.environment.anchors import anchors, may_match
from steptime.environment.catalogue import FACTS
from steptime.environment.sayings import read_sayings

TABLES = (*said_of_machine.SAYINGS, *said_of_driver.SAYINGS, *said_of_packages.SAYINGS)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "| NVIDIA-SMI 555.99   Driver Version: 555.99   CUDA Version: 12.5 |",
            {"driver": "555.99", "driver_cuda": "12.5", "smi_works": True},
        ),
        (
            "E cuda_driver.cc:266] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
            {"cuinit": "cuda_error_no_device"},
        ),
        ("failed call to cuInit: UNKNOWN ERROR (303)", {"cuinit": "unknown_303"}),
        (
            "kernel version 460.91.3 does not match DSO version 470.57.2",
            {"kernel_module": "460.91.3", "libcuda": "470.57.2"},
        ),
        (
            "Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0.",
            {"cudnn_loaded": "9.1.0", "cudnn_built": "9.3.0"},
        ),
        (
            "-> device: 0, name: NVIDIA GeForce GTX 1050, pci bus id: 0000:01:00.0",
            {"gpu": ("nvidia geforce gtx 1050",)},
        ),
        (r"C:\Users\x\venv\Lib\site-packages\tensorflow", {"os": "windows"}),
        ("Linux version 5.15.79.1-microsoft-standard-WSL2", {"os": "linux", "wsl": True}),
        ("/usr/lib/python3.12/site-packages", {"python": "3.12"}),
        ("tensorflow-2.20.0-cp312-cp312-manylinux.whl", {"python": "3.12"}),
        ("is_cuda_build: False", {"tensorflow_build": "cpu"}),
        (
            "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0",
            {"tensorflow_build": None},
        ),
        ("cuda compilation tools, release 12.4, V12.4.131", {"cuda_toolkit": "12.4"}),
        ("ERROR: No matching distribution found for tensorflow==2.13.0", {"tensorflow": None}),
        ("Using JAX backend.", {"keras_backend": "jax"}),
    ],
)
def test_a_log_tells_facts(line, expected):
    found = read_sayings(line)
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.parametrize(("fact", "pattern"), [(fact, pattern) for fact, _, pattern in TABLES])
def test_each_saying_is_about_a_fact_of_the_catalogue_and_can_match(fact, pattern):
    assert fact in FACTS
    assert re.compile(pattern)
    assert re.sub(r"\\.", "", pattern) == re.sub(r"\\.", "", pattern).lower()


@given(st.sampled_from([pattern for _, _, pattern in TABLES]), st.text(max_size=80))
def test_anchors_never_hide_a_match(pattern, text):
    if re.search(pattern, text):
        assert may_match(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"failed call to cuinit", ("failed call to cuinit",)),
        (r"cud(art|nn)_library", ("_library",)),
        (r"libcuda\.so|nvidia", ("libcuda.so", "nvidia")),
        (r"colou?rs(red|blue)", ("colo",)),
        (r"[abc]+|known", ()),
        (r"abc{0,2}defg", ("defg",)),
    ],
)
def test_anchors_are_what_must_stand_in_every_match(pattern, words):
    assert anchors(pattern) == words
