"""The devices of a run are sampled while it trains, and the record says what they did."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from steptime.device.device import DeviceFacts, Sample
from steptime.errors import DeviceError
from steptime.worker import sampling
from steptime.worker.sampling import DeviceWatch, open_devices

# TensorBoard's writer imports TensorFlow where there is one.
pytestmark = pytest.mark.tensorflow


class FakeDevice:
    """A device whose sensors count upwards; one of them cannot be read."""

    name = "gpu0"

    def __init__(self) -> None:
        self._count = itertools.count()
        self.is_closed = False

    def describe(self) -> DeviceFacts:
        return DeviceFacts(kind="gpu", unavailable={"energy_j": "the card is too old", "uuid": "not asked"})

    def sample(self) -> Sample:
        number = next(self._count)
        return Sample(
            t_ns=10_000_000_000 + number * 200_000_000,
            utilisation_share=0.5,
            own_utilisation_share=0.3,
            power_w=100.0 + number,
            memory_used_bytes=2**30 + number,
        )

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def watched(tmp_path: Path) -> tuple[DeviceWatch, FakeDevice, Path]:
    device = FakeDevice()
    watch = DeviceWatch((device,), 60.0, tmp_path / "tb" / "device")
    with watch:
        pass
    return watch, device, tmp_path


def test_what_a_device_did_becomes_fields_of_the_record(watched) -> None:
    watch, device, folder = watched

    fields = watch.conclude(folder / "device.npz", 9_000_000_000)

    (use,) = fields["devices"]
    assert device.is_closed
    assert (use.name, use.samples) == ("gpu0", 2)
    assert use.utilisation_share == pytest.approx(0.5)
    assert use.other_work_share == pytest.approx(0.2)
    assert use.energy_source == "integrated from samples"
    assert use.energy_j == pytest.approx(100.5 * 0.2)
    assert fields["sampling_s"] >= 0


def test_samples_are_kept_with_times_from_the_start_of_the_process(watched) -> None:
    watch, _, folder = watched

    watch.conclude(folder / "device.npz", 9_000_000_000)

    with np.load(folder / "device.npz", allow_pickle=False) as columns:
        assert columns["gpu0.t_ns"].tolist() == [1_000_000_000, 1_200_000_000]
        assert columns["gpu0.power_w"].tolist() == [100.0, 101.0]


def test_a_sensor_that_cannot_be_read_is_named_with_its_reason(watched) -> None:
    assert watched[0].missing() == {"devices.gpu0.energy_j": "the card is too old"}


def test_tensorboard_shows_every_reading_once(watched) -> None:
    _, _, folder = watched
    events = EventAccumulator(str(folder / "tb" / "device"))
    events.Reload()

    readings = events.Scalars("device/gpu0.power_w")
    assert [reading.value for reading in readings] == [100.0, 101.0]
    assert readings[1].wall_time - readings[0].wall_time == pytest.approx(0.2, abs=1e-3)


def test_a_run_on_the_cpu_samples_the_cpu_alone() -> None:
    devices, reasons = open_devices("cpu")

    assert [device.name for device in devices] == ["cpu"]
    assert reasons == {}


def test_a_gpu_that_cannot_be_opened_costs_its_readings_and_not_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Found:
        usable = ("the card",)

    def gone(gpu: object) -> None:
        raise DeviceError("gpu0 is gone now", hint="look at dmesg")

    monkeypatch.setattr(sampling, "find_gpus", Found)
    monkeypatch.setattr(sampling, "open_gpu", gone)

    devices, reasons = open_devices("gpu:0")

    assert [device.name for device in devices] == ["cpu"]
    assert reasons == {"devices.gpu": "gpu0 is gone now"}
