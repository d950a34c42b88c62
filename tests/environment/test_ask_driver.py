import sys
import types

import pytest

from steptime.environment import ask_driver


class NVMLError(Exception):
    pass


def pynvml(**answers) -> types.ModuleType:
    """A stand-in for the driver's library with one GPU; an answer that is missing is an error, as with old cards."""
    module = types.ModuleType("pynvml")
    module.NVMLError = NVMLError
    module.nvmlInit = lambda: None
    module.nvmlSystemGetDriverVersion = lambda: "550.54.14"
    module.nvmlDeviceGetCount = lambda: 1
    module.nvmlDeviceGetHandleByIndex = lambda index: index
    module.nvmlDeviceGetName = lambda handle: "NVIDIA GeForce RTX 3090"
    for name, answer in answers.items():
        setattr(module, f"nvmlDeviceGet{name}", lambda handle, answer=answer: answer)
    return module


@pytest.fixture
def facts(monkeypatch):
    def ask(**answers):
        monkeypatch.setitem(sys.modules, "pynvml", pynvml(**answers))
        return ask_driver.ask([])

    return ask


def test_names_capability_and_driver(facts):
    found = facts(CudaComputeCapability=(8, 6))
    assert (found["gpu"], found["gpu_cc"], found["driver"]) == (
        ["NVIDIA GeForce RTX 3090"],
        "8.6",
        "550.54.14",
    )
    assert found["smi_works"] is True


@pytest.mark.parametrize(
    ("reasons", "limit", "word"),
    [(0x0, 350, "none"), (0x1, 350, "none"), (0x20, 350, "thermal"), (0x40, 350, "thermal"), (0x80, 350, "power brake"),
     (0x4, 350, "none"), (0x4, 200, "power")],
)  # fmt: skip
def test_a_reached_power_limit_counts_only_if_it_was_lowered(facts, reasons, limit, word):
    found = facts(
        CurrentClocksThrottleReasons=reasons, EnforcedPowerLimit=limit, PowerManagementDefaultLimit=350
    )
    assert found["throttle"] == word


def test_a_narrow_and_slow_link_is_told_in_words(facts):
    found = facts(
        CurrPcieLinkWidth=4, MaxPcieLinkWidth=16, MaxPcieLinkGeneration=3, GpuMaxPcieLinkGeneration=4
    )
    assert found["pcie_narrow"] == "4 of 16 lanes, generation 3 of 4"


def test_memory_processes_mode_and_slices(facts):
    found = facts(
        MemoryInfo=types.SimpleNamespace(free=1, total=10),
        ComputeRunningProcesses=[types.SimpleNamespace(pid=42, usedGpuMemory=9 << 30)],
        ComputeMode=3,
        MigMode=(1, 1),
    )
    assert found["gpu_memory_free_share"] == 0.1
    assert found["gpu_others"] == ["process 42: 9216 MiB"]
    assert (found["compute_mode"], found["mig"]) == ("exclusive", True)


def test_questions_that_a_card_does_not_know_are_left_out(facts):
    found = facts()
    assert found["gpu_cc"] is None
    assert found["throttle"] == "none"
    assert "compute_mode" not in found


@pytest.mark.parametrize(
    ("message", "word"),
    [("Driver/library version mismatch", "mismatch"), ("Unknown Error", "unknown"), ("Insufficient Permissions",
    "permissions"),
     ("GPU access blocked by the operating system", "blocked"), ("Driver Not Loaded", "not loaded")],
)  # fmt: skip
def test_each_refusal_of_the_library_has_its_word(monkeypatch, message, word):
    module = pynvml()

    def refuse():
        raise NVMLError(message)

    module.nvmlInit = refuse
    monkeypatch.setitem(sys.modules, "pynvml", module)
    found = ask_driver.ask([])
    assert found["nvml"] == word
    assert found["smi_works"] is False


@pytest.mark.parametrize(
    ("status", "level", "links", "peer"),
    [
        ({2: 0, 0: 0}, 50, "nvlink", True),
        ({2: 6, 0: 0}, 10, "pcie", True),
        ({2: 6, 0: 5}, 30, "host", False),
        ({2: 6, 0: 5}, 50, "sockets", False),
    ],
)
def test_two_gpus_are_asked_how_they_reach_each_other(monkeypatch, status, level, links, peer):
    module = pynvml()
    module.nvmlDeviceGetCount = lambda: 2
    module.nvmlDeviceGetP2PStatus = lambda a, b, what: status[what]
    module.nvmlDeviceGetTopologyCommonAncestor = lambda a, b: level
    monkeypatch.setitem(sys.modules, "pynvml", module)
    found = ask_driver.ask([])
    assert (found["gpu_links"], found["gpu_peer"]) == (links, peer)


def test_the_slowest_pair_of_several_gpus_counts(monkeypatch):
    module = pynvml()
    module.nvmlDeviceGetCount = lambda: 3
    module.nvmlDeviceGetP2PStatus = lambda a, b, what: 0 if (a, b) == (0, 1) else 6
    module.nvmlDeviceGetTopologyCommonAncestor = lambda a, b: 40
    monkeypatch.setitem(sys.modules, "pynvml", module)
    found = ask_driver.ask([])
    assert (found["gpu_links"], found["gpu_peer"]) == ("host", False)


def test_a_driver_that_does_not_tell_leaves_the_links_unknown(monkeypatch):
    module = pynvml()
    module.nvmlDeviceGetCount = lambda: 2
    monkeypatch.setitem(sys.modules, "pynvml", module)
    found = ask_driver.ask([])
    assert (found["gpu_links"], found["gpu_peer"]) == (None, None)


def test_one_gpu_has_no_links(facts):
    found = facts(P2PStatus=0)
    assert (found["gpu_links"], found["gpu_peer"]) == (None, None)
