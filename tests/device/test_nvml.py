import subprocess
import sys
from types import SimpleNamespace

import pytest

from steptime.device import nvml as nvml_module
from steptime.device.nvml import NvmlError, NvmlLibrary, open_nvml
from steptime.errors import DeviceError


def cannot_load(name):
    raise OSError(name)


def can_load(name):
    return object()


def fails_with(code):
    def start():
        raise NvmlError(code, "text of the driver")

    return start


@pytest.fixture
def with_kernel_driver(tmp_path):
    folder = tmp_path / "proc/driver/nvidia"
    folder.mkdir(parents=True)
    (folder / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15\n")
    return tmp_path


def test_without_a_driver_the_error_names_both_missing_parts(tmp_path):
    with pytest.raises(DeviceError) as caught:
        open_nvml(tmp_path, cannot_load)
    assert caught.value.message == (
        "no NVIDIA driver: /proc/driver/nvidia/version is missing and libnvidia-ml.so.1 cannot be loaded"
    )


def test_a_container_without_gpu_access_is_told_apart(with_kernel_driver):
    with pytest.raises(DeviceError, match="kernel driver is loaded, but its library") as caught:
        open_nvml(with_kernel_driver, cannot_load)
    assert "--gpus all" in caught.value.hint


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("NVML_ERROR_DRIVER_NOT_LOADED", "kernel driver is not loaded"),
        ("NVML_ERROR_LIB_RM_VERSION_MISMATCH", "different versions"),
        ("NVML_ERROR_NO_PERMISSION", "may not talk"),
        ("NVML_ERROR_UNKNOWN", "does not answer"),
    ],
)
def test_a_driver_that_does_not_start_says_why(tmp_path, code, words):
    with pytest.raises(DeviceError, match=words) as caught:
        open_nvml(tmp_path, can_load, fails_with(code))
    assert code in caught.value.message


def test_a_missing_python_package_is_said(tmp_path):
    def start():
        raise ImportError("pynvml")

    with pytest.raises(DeviceError, match="nvidia-ml-py is not installed"):
        open_nvml(tmp_path, can_load, start)


def test_a_working_driver_is_opened(tmp_path):
    door = object()
    assert open_nvml(tmp_path, can_load, lambda: door) is door


def test_nvidia_ml_py_is_not_imported_without_a_driver():
    code = (
        "import sys; from pathlib import Path; from steptime.device.nvml import open_nvml\n"
        "from steptime.errors import DeviceError\n"
        "def load(name): raise OSError(name)\n"
        "try: open_nvml(Path('/nowhere'), load)\n"
        "except DeviceError: pass\n"
        "sys.exit('pynvml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def stand_in(**functions):
    class NVMLError(Exception):
        def __init__(self, value):
            super().__init__("words")
            self.value = value

    return SimpleNamespace(
        NVMLError=NVMLError,
        NVML_ERROR_NOT_SUPPORTED=3,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        **functions,
    )


def test_errors_of_the_library_get_their_name_in_nvmls_header(monkeypatch):
    def refuse(handle):
        raise module.NVMLError(handle)

    module = stand_in(nvmlDeviceGetPowerUsage=refuse)
    monkeypatch.setattr(nvml_module, "import_module", lambda name: module)
    library = NvmlLibrary()
    with pytest.raises(NvmlError) as caught:
        library.call("nvmlDeviceGetPowerUsage", 3)
    assert caught.value.code == "NVML_ERROR_NOT_SUPPORTED"
    with pytest.raises(NvmlError) as caught:
        library.call("nvmlDeviceGetPowerUsage", 4711)
    assert caught.value.code == "NVML_ERROR_4711"
    library.close()


def test_a_function_that_an_old_library_lacks_is_a_refusal(monkeypatch):
    monkeypatch.setattr(nvml_module, "import_module", lambda name: stand_in())
    with pytest.raises(NvmlError) as caught:
        NvmlLibrary().call("nvmlDeviceGetPowerUsage", 0)
    assert caught.value.code == "NVML_ERROR_FUNCTION_NOT_FOUND"


def test_text_that_is_not_utf8_is_a_refusal(monkeypatch):
    module = stand_in(nvmlDeviceGetName=lambda handle: b"\xff".decode())
    monkeypatch.setattr(nvml_module, "import_module", lambda name: module)
    with pytest.raises(NvmlError, match="not UTF-8"):
        NvmlLibrary().call("nvmlDeviceGetName", 0)


def test_every_nvml_function_that_is_asked_for_exists_in_nvidia_ml_py():
    pynvml = pytest.importorskip("pynvml")
    from steptime.device.nvidia import _FACTS, _SENSORS, _SYSTEM_FACTS

    for query in _FACTS + _SENSORS + _SYSTEM_FACTS:
        assert hasattr(pynvml, query.function)
    assert pynvml.NVML_CLOCK_SM == 1
    assert pynvml.NVML_CLOCK_MEM == 2
    assert pynvml.NVML_TEMPERATURE_GPU == 0
    assert pynvml.NVML_COMPUTEMODE_PROHIBITED == 2
    assert pynvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS == 3
    assert pynvml.nvmlClocksThrottleReasonSwPowerCap == 0x4
    assert pynvml.nvmlClocksThrottleReasonHwThermalSlowdown == 0x40
