import io
import threading

import numpy as np

from steptime.device.cpu import Cpu
from steptime.device.device import DeviceFacts, Sample
from steptime.device.sampler import Sampler
from steptime.device.series import summarise


class Scripted:
    """A device that tells what a list holds and then repeats the last entry."""

    def __init__(self, samples, name="gpu0"):
        self.name = name
        self.samples = list(samples)
        self.taken = 0
        self.enough = threading.Event()

    def describe(self):
        return DeviceFacts(kind="gpu")

    def sample(self):
        sample = self.samples[min(self.taken, len(self.samples) - 1)]
        self.taken += 1
        if self.taken > len(self.samples):
            self.enough.set()
        return sample

    def close(self):
        pass


def run(device, **options):
    with Sampler([device], 0.001, **options) as sampler:
        assert device.enough.wait(30)
    return sampler


def test_readings_arrive_in_order_and_unknown_ones_are_nan():
    device = Scripted([Sample(t_ns=1, power_w=10.0), Sample(t_ns=2), Sample(t_ns=3, power_w=30.0)])
    series = run(device).series()
    assert series["gpu0.t_ns"][:3].tolist() == [1, 2, 3]
    assert series["gpu0.t_ns"].dtype == np.int64
    np.testing.assert_array_equal(series["gpu0.power_w"][:3], [10.0, np.nan, 30.0])


def test_quantities_that_were_never_known_are_left_out():
    series = run(Scripted([Sample(t_ns=1, power_w=1.0)])).series()
    assert set(series) == {"gpu0.t_ns", "gpu0.power_w"}


def test_throttle_reasons_become_one_column_each():
    samples = [
        Sample(t_ns=1, throttle_reasons=()),
        Sample(t_ns=2, throttle_reasons=("power_cap",)),
        Sample(t_ns=3, throttle_reasons=None),
        Sample(t_ns=4, throttle_reasons=("power_cap", "hw_thermal")),
    ]
    series = run(Scripted(samples)).series()
    np.testing.assert_array_equal(series["gpu0.throttled"][:4], [0, 0, np.nan, 1])
    np.testing.assert_array_equal(series["gpu0.throttle.power_cap"][:4], [0, 1, np.nan, 1])
    np.testing.assert_array_equal(series["gpu0.throttle.hw_thermal"][:4], [0, 0, np.nan, 1])


def test_arrays_grow_beyond_their_first_size():
    samples = [Sample(t_ns=i, power_w=float(i)) for i in range(1000)]
    series = run(Scripted(samples)).series()
    np.testing.assert_array_equal(series["gpu0.power_w"][:1000], np.arange(1000.0))


def test_the_series_is_written_and_read_without_pickle():
    series = run(Scripted([Sample(t_ns=1, power_w=1.0, throttle_reasons=("hw_thermal",))])).series()
    file = io.BytesIO()
    np.savez(file, **series)
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        assert set(stored.files) == set(series)
        assert summarise(stored, "gpu0") == summarise(series, "gpu0")


def test_a_listener_hears_every_sample():
    heard = []
    device = Scripted([Sample(t_ns=1), Sample(t_ns=2)])
    sampler = run(device, on_sample=lambda name, sample: heard.append((name, sample.t_ns)))
    assert heard[:2] == [("gpu0", 1), ("gpu0", 2)]
    assert len(heard) == len(sampler.series()["gpu0.t_ns"])


def test_a_listener_that_fails_is_switched_off_and_the_sampling_goes_on():
    def fail(name, sample):
        raise ValueError("full disk")

    device = Scripted([Sample(t_ns=i) for i in range(5)])
    sampler = run(device, on_sample=fail)
    assert "full disk" in sampler.problem
    assert len(sampler.series()["gpu0.t_ns"]) > 5


def test_one_last_sample_is_taken_at_the_end_so_that_short_runs_have_two():
    device = Scripted([Sample(t_ns=1)])
    with Sampler([device], 3600.0) as sampler:
        pass
    assert len(sampler.series()["gpu0.t_ns"]) == 2


def test_series_can_be_taken_while_sampling():
    device = Scripted([Sample(t_ns=i) for i in range(50)])
    with Sampler([device], 0.001) as sampler:
        assert device.enough.wait(30)
        first = len(sampler.series()["gpu0.t_ns"])
    assert len(sampler.series()["gpu0.t_ns"]) > first > 0


def test_the_sampler_ends_when_the_body_fails():
    device = Scripted([Sample(t_ns=1)])
    try:
        with Sampler([device], 0.001):
            raise RuntimeError("training failed")
    except RuntimeError:
        pass
    assert not any(thread.name == "steptime-sampler" for thread in threading.enumerate())


def test_the_real_processor_can_be_sampled():
    heard = threading.Event()
    count = []

    def listen(name, sample):
        count.append(name)
        if len(count) >= 3:
            heard.set()

    with Sampler([Cpu()], 0.01, listen) as sampler:
        assert heard.wait(30)
    series = sampler.series()
    assert np.all(np.diff(series["cpu.t_ns"]) > 0)
    assert summarise(series, "cpu").memory_peak_bytes > 2**20
    assert sampler.cost_s > 0
