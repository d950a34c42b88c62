"""NVML answers from files, as a stand-in for the driver."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steptime.device.nvml import NvmlError

_DATA = Path(__file__).parent.parent / "data" / "nvml"


class RecordedNvml:
    """Answers as a file says; see tests/data/nvml/README.md for its form."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.calls: list[str] = []
        self.is_open = True

    def call(self, function: str, *args: Any) -> Any:
        assert self.is_open, "called after close"
        self.calls.append(function)
        if function == "nvmlDeviceGetCount":
            return len(self.answers["devices"])
        if function == "nvmlDeviceGetHandleByIndex":
            return self.answers["devices"][args[0]]
        if function == "nvmlDeviceGetMigDeviceHandleByIndex":
            slices = args[0].get("mig", [])
            if args[1] >= len(slices) or slices[args[1]] is None:
                raise NvmlError("NVML_ERROR_NOT_FOUND", "Not Found")
            return slices[args[1]]
        source = args[0] if function.startswith("nvmlDevice") else self.answers["system"]
        return self._answer(source[function], args[-1] if args else None)

    def close(self) -> None:
        self.is_open = False

    def _answer(self, answer: Any, argument: Any) -> Any:
        if isinstance(answer, dict) and "error" in answer:
            raise NvmlError(answer["error"], "refused by the recording")
        if isinstance(answer, dict) and "each" in answer:
            each = answer["each"]
            return self._answer(each.pop(0) if len(each) > 1 else each[0], argument)
        if isinstance(answer, dict) and "by_argument" in answer:
            return self._answer(answer["by_argument"][str(argument)], argument)
        if isinstance(answer, dict):
            return SimpleNamespace(**answer)
        if isinstance(answer, list) and answer and isinstance(answer[0], dict):
            return [SimpleNamespace(**entry) for entry in answer]
        return answer


@pytest.fixture
def recorded_nvml() -> Callable[[str], RecordedNvml]:
    def load(name: str) -> RecordedNvml:
        return RecordedNvml(json.loads((_DATA / f"{name}.json").read_text(encoding="utf-8")))

    return load
