"""The choice of the device."""

import importlib.metadata
import sys

import pytest

from steptime.device.find import GpuSearch
from steptime.device.testing import make_gpu
from steptime.errors import DeviceError
from steptime.launch import placement
from steptime.launch.placement import choose_placement, cpu_only_build, placement_of_worker

CPU_ONLY = "the installed package is tensorflow-cpu, which is built without CUDA"


NOTHING = GpuSearch((), "no NVIDIA driver", "install the driver")
TWO = GpuSearch((make_gpu(0, usable=False), make_gpu(1), make_gpu(2, "NVIDIA A100")), None, None)


def test_a_cpu_run_hides_every_gpu_even_where_there_are_some() -> None:
    chosen = choose_placement("cpu", TWO, None)

    assert (chosen.device, chosen.reason, chosen.visible_devices) == ("cpu", "as asked", "-1")


@pytest.mark.parametrize(
    ("search", "build", "reason"),
    [
        (NOTHING, None, "no usable GPU: no NVIDIA driver"),
        (GpuSearch((), "no usable GPU: gpu0 is hidden", "unset it"), None, "no usable GPU: gpu0 is hidden"),
        (GpuSearch((), None, None), None, "no usable GPU: the driver shows none"),
        (TWO, CPU_ONLY, f"NVIDIA T4 is there, but {CPU_ONLY}"),
    ],
)
def test_auto_says_why_it_took_the_cpu(search: GpuSearch, build: str | None, reason: str) -> None:
    chosen = choose_placement("auto", search, build)

    assert (chosen.device, chosen.reason, chosen.visible_devices) == ("cpu", reason, "-1")


@pytest.mark.parametrize(
    ("asked", "device", "visible", "reason"),
    [
        ("auto", "gpu:0", "GPU-1", "the first usable GPU: NVIDIA T4"),
        ("gpu", "gpu:0", "GPU-1", "as asked: NVIDIA T4"),
        ("gpu:1", "gpu:1", "GPU-2", "as asked: NVIDIA A100"),
    ],
)
def test_gpus_are_counted_among_the_usable_and_shown_alone(
    asked: str, device: str, visible: str, reason: str
) -> None:
    chosen = choose_placement(asked, TWO, None)

    assert (chosen.device, chosen.visible_devices, chosen.reason) == (device, visible, reason)


@pytest.mark.parametrize(
    ("asked", "search", "build", "message", "hint"),
    [
        (
            "gpu",
            NOTHING,
            None,
            "--device gpu must name a usable GPU. No NVIDIA driver",
            "Install the driver. Or train with --device cpu.",
        ),
        (
            "gpu:0",
            GpuSearch((), None, None),
            CPU_ONLY,
            "--device gpu:0 must name a usable GPU. Nothing more is known",
            "Nothing more is known. Or train with --device cpu.",
        ),
        (
            "gpu",
            TWO,
            CPU_ONLY,
            f"--device gpu needs a TensorFlow built for GPUs. Received: {CPU_ONLY}",
            "In a fresh environment: pip install 'tensorflow[and-cuda]'",
        ),
        (
            "gpu:2",
            TWO,
            None,
            "--device gpu:2 must name one of the 2 usable GPUs, gpu:0 to gpu:1.",
            "nvidia-smi -L lists the GPUs of this machine.",
        ),
    ],
)
def test_a_gpu_that_was_asked_for_and_cannot_be_used_is_an_error_never_a_cpu_run(
    asked: str, search: GpuSearch, build: str | None, message: str, hint: str
) -> None:
    with pytest.raises(DeviceError) as caught:
        choose_placement(asked, search, build)

    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("installed", "platform", "reason"),
    [
        ({"tensorflow-cpu"}, "linux", CPU_ONLY),
        (
            {"tensorflow-intel"},
            "win32",
            "the installed package is tensorflow-intel, which is built without CUDA",
        ),
        ({"tensorflow"}, "linux", None),
        ({"tensorflow"}, "darwin", "TensorFlow's wheels for darwin are built without CUDA"),
    ],
)
def test_the_installed_package_tells_whether_tensorflow_has_cuda(
    monkeypatch: pytest.MonkeyPatch, installed: set[str], platform: str, reason: str | None
) -> None:
    def distribution(name: str) -> object:
        if name not in installed:
            raise importlib.metadata.PackageNotFoundError(name)
        return object()

    monkeypatch.setattr(placement.importlib.metadata, "distribution", distribution)
    monkeypatch.setattr(sys, "platform", platform)

    assert cpu_only_build() == reason


FOUR = GpuSearch(tuple(make_gpu(number) for number in range(4)), None, None)


@pytest.mark.parametrize(
    ("devices", "workers", "shown", "each"),
    [
        ("all", 1, "GPU-0,GPU-1,GPU-2,GPU-3", 4),
        ("2", 1, "GPU-0,GPU-1", 2),
        ("1", 2, "GPU-0,GPU-1", 1),
        ("all", 2, "GPU-0,GPU-1,GPU-2,GPU-3", 2),
        ("all", 3, "GPU-0,GPU-1,GPU-2", 1),
    ],
)
@pytest.mark.parametrize("asked", ["auto", "gpu"])
def test_every_worker_gets_equally_many_gpus(
    asked: str, devices: str, workers: int, shown: str, each: int
) -> None:
    chosen = choose_placement(asked, FOUR, None, devices, workers)

    assert (chosen.visible_devices, chosen.devices) == (shown, each)


@pytest.mark.parametrize(
    ("devices", "workers", "asked", "words"),
    [
        ("5", 1, "gpu", "1 worker.* with 5 GPU"),
        ("3", 2, "auto", "2 worker.* with 3 GPU"),
        ("all", 5, "gpu", "5 worker.* with all GPU"),
        ("2", 1, "gpu:1", "names one GPU"),
        ("1", 2, "gpu:0", "names one GPU"),
    ],
)
def test_more_gpus_than_there_are_is_an_error(devices: str, workers: int, asked: str, words: str) -> None:
    with pytest.raises(DeviceError, match=words):
        choose_placement(asked, FOUR, None, devices, workers)


def test_the_workers_of_a_machine_share_no_gpu() -> None:
    chosen = choose_placement("gpu", FOUR, None, "2", 2)

    parts = [placement_of_worker(chosen, rank, 2) for rank in range(2)]
    assert [part.visible_devices for part in parts] == ["GPU-0,GPU-1", "GPU-2,GPU-3"]
    assert [part.device for part in parts] == ["gpu:0", "gpu:2"]


@pytest.mark.parametrize(("devices", "count"), [("1", 1), ("all", 1), ("4", 4)])
def test_a_cpu_is_split_as_asked(devices: str, count: int) -> None:
    chosen = choose_placement("cpu", TWO, None, devices)

    assert chosen.devices == count
    assert ("logical devices" in chosen.reason) == (count > 1)


def test_every_worker_has_the_whole_cpu_and_cannot_split_it() -> None:
    chosen = choose_placement("cpu", TWO, None, "all", 3)

    assert placement_of_worker(chosen, 2, 3) == chosen
    with pytest.raises(DeviceError, match="one device"):
        choose_placement("cpu", TWO, None, "2", 3)
