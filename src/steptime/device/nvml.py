"""The narrow door to NVIDIA's management library (NVML): one call by name, one kind of error.

Everything else in this package speaks to `Nvml`, so that recorded answers can stand in for a card. The
package ``nvidia-ml-py`` is imported only after a driver was found.
"""

import ctypes
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from steptime.errors import DeviceError

_LIBRARIES = ("libnvidia-ml.so.1", "nvml.dll")
_VERSION_FILE = "proc/driver/nvidia/version"


class NvmlError(Exception):
    """NVML answered with an error.

    Args:
        code: Its name in NVML's header, such as ``NVML_ERROR_NOT_SUPPORTED``.
        text: The driver's words for it.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code = code


class Nvml(Protocol):
    """NVML, or recorded answers of it."""

    def call(self, function: str, *args: Any) -> Any:
        """Call an NVML function by the name that it has in ``nvidia-ml-py``.

        Raises:
            NvmlError: The driver refuses or does not know the function.
        """

    def close(self) -> None:
        """Let go of the driver."""


class NvmlLibrary:
    """The driver of this machine, through ``nvidia-ml-py``.

    Raises:
        ImportError: ``nvidia-ml-py`` is not installed.
        NvmlError: The library cannot be started.
    """

    def __init__(self) -> None:
        self._module = import_module("pynvml")
        self._codes = {
            value: name
            for name, value in vars(self._module).items()
            if name.startswith("NVML_ERROR_") and isinstance(value, int)
        }
        self.call("nvmlInit")

    def call(self, function: str, *args: Any) -> Any:
        """Call an NVML function; see `Nvml.call`."""
        known = getattr(self._module, function, None)
        if known is None:
            raise NvmlError("NVML_ERROR_FUNCTION_NOT_FOUND", f"nvidia-ml-py has no {function}")
        try:
            return known(*args)
        except self._module.NVMLError as error:
            code = self._codes.get(error.value, f"NVML_ERROR_{error.value}")
            raise NvmlError(code, str(error)) from error
        except UnicodeDecodeError as error:
            raise NvmlError(
                "NVML_ERROR_UNKNOWN", f"{function} answers with text that is not UTF-8"
            ) from error

    def close(self) -> None:
        """Shut NVML down; it counts its users, so others in this process keep theirs."""
        try:
            self.call("nvmlShutdown")
        except NvmlError:
            return  # there is nothing left to let go of


def open_nvml(
    root: Path = Path("/"),
    load: Callable[[str], object] = ctypes.CDLL,
    start: Callable[[], Nvml] = NvmlLibrary,
) -> Nvml:
    """Open NVML if a driver is there.

    Args:
        root: Where ``/proc`` begins; another one in tests.
        load: Loads a shared library by name and raises ``OSError`` if it cannot.
        start: Starts NVML.

    Raises:
        DeviceError: There is no driver, or it does not work; the message says which of the two, and why.
    """
    version_file = root / _VERSION_FILE
    has_library, has_kernel_driver = _loads_any(load), version_file.exists()
    if not has_library and not has_kernel_driver:
        raise DeviceError(
            f"no NVIDIA driver: /{_VERSION_FILE} is missing and {_LIBRARIES[0]} cannot be loaded",
            hint="if there is an NVIDIA GPU, install its driver; in a container, start it with GPU access",
        )
    if not has_library:
        raise DeviceError(
            f"the NVIDIA kernel driver is loaded, but its library {_LIBRARIES[0]} cannot be loaded",
            hint="in a container, start it with GPU access (docker run --gpus all); else reinstall it",
        )
    try:
        return start()
    except ImportError as error:
        raise DeviceError(
            "an NVIDIA driver is there, but the Python package nvidia-ml-py is not installed",
            hint="pip install nvidia-ml-py",
        ) from error
    except NvmlError as error:
        message, hint = _START_FAILURES.get(
            error.code, ("the NVIDIA driver does not answer", "restart the machine")
        )
        raise DeviceError(f"{message}: {error}", hint=hint) from error


_START_FAILURES = {
    "NVML_ERROR_DRIVER_NOT_LOADED": (
        "the NVIDIA library is installed, but the kernel driver is not loaded",
        "load it (modprobe nvidia), or look in the kernel's log for why it refuses",
    ),
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH": (
        "the NVIDIA library and the loaded kernel driver are of different versions",
        "restart the machine: the driver was updated while the old one was loaded",
    ),
    "NVML_ERROR_NO_PERMISSION": (
        "this user may not talk to the NVIDIA driver",
        "allow access to /dev/nvidia*, or start the container with GPU access",
    ),
}


def _loads_any(load: Callable[[str], object]) -> bool:
    for library in _LIBRARIES:
        try:
            load(library)
        except OSError:
            continue
        return True
    return False
