import pytest

from steptime.environment.data_sheet import fp32_tflops
from steptime.environment.gpus import compute_capability, vendor


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA GeForce RTX 5090", "12.0"), ("RTX PRO 6000 Blackwell", "12.0"), ("NVIDIA B200", "10.0"),
        ("NVIDIA GB10", "12.1"),
        ("NVIDIA H100 PCIe", "9.0"), ("GH200 480GB", "9.0"), ("NVIDIA L40S", "8.9"), ("RTX 4070 Ti", "8.9"),
        ("RTX 6000 Ada", "8.9"),
        ("NVIDIA A10G", "8.6"), ("RTX A6000", "8.6"), ("RTX 3050 Ti Laptop", "8.6"), ("A100-SXM4-80GB", "8.0"),
        ("Jetson AGX Orin", "8.7"),
        ("Tesla T4", "7.5"), ("GTX 1650", "7.5"), ("Quadro RTX 8000", "7.5"), ("TITAN V", "7.0"), ("Tesla V100", "7.0"),
        ("GTX 1080 Ti", "6.1"), ("Quadro P620", "6.1"), ("Tesla P100", "6.0"), ("GTX 980", "5.2"), ("GeForce 940MX",
        "5.0"),
        ("Tesla K80", "3.7"), ("Tesla K40c", "3.5"), ("GTX 680", "3.0"), ("GeForce 210", "1.2"),
        ("Quadro M1200 (cc 5.0)", "5.0"),
    ],
)  # fmt: skip
def test_a_name_tells_the_compute_capability(name, capability):
    assert compute_capability(name) == capability


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("AMD Radeon RX 6800", "amd"), ("Radeon Pro 5700 XT", "amd"), ("Intel Iris Xe", "intel"), ("Apple M2 Pro",
        "apple"), ("M1 8GB", "apple"),
        ("none", "none"), ("A100 80GB", "nvidia"), ("some card", None),
    ],
)  # fmt: skip
def test_a_name_tells_the_maker(name, maker):
    assert vendor(name) == maker


@pytest.mark.parametrize("name", ["AMD Radeon RX 6800", "Intel UHD 630", "a card that nobody knows"])
def test_other_makers_have_no_compute_capability(name):
    assert compute_capability(name) is None


@pytest.mark.parametrize(
    ("name", "rate"),
    [("Tesla V100-SXM2-16GB", 15.7), ("NVIDIA GeForce RTX 4090", 82.6), ("NVIDIA H100 PCIe", 51.0),
    ("NVIDIA H100 80GB HBM3 SXM", 66.9),
     ("NVIDIA GeForce RTX 5070 Ti", 43.9), ("NVIDIA GeForce RTX 5070", 30.9), ("Tesla T4", 8.1), ("Quadro P620", None)],
)  # fmt: skip
def test_the_data_sheet_gives_the_rate_of_the_closest_variant(name, rate):
    assert fp32_tflops(name) == rate
