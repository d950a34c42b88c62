"""Facts about a run, from its record and from what was measured of it."""

import dataclasses

import pytest

from steptime.analysis.anatomy import Anatomy, Part, Span
from steptime.diagnosis.speed.catalogue import SPEED_FACTS
from steptime.diagnosis.speed.evaluate import evaluate
from steptime.diagnosis.speed.facts import speed_facts
from steptime.diagnosis.speed.rules import RULES
from steptime.plan.settings import Settings, change
from steptime.record.operations import Busy, Copy
from steptime.record.profile import CallbackCost, Layer, Loop
from steptime.record.schema import DeviceUse
from steptime.testing import make_ceilings, make_operations, make_plan, make_profile, make_record, make_timing

UNKNOWN = Anatomy(bound="unknown", why="", step_s=None, shares={}, missing={})


def span(value: float) -> Span:
    return Span(value=value, low=value * 0.98, high=value * 1.02)


def anatomy(**parts: float) -> Anatomy:
    whole = sum(parts.values())
    return Anatomy(
        bound="mixed",
        why="",
        step_s=span(whole),
        parts=tuple(
            Part(kind=kind, resource="host", step_s=span(value), share=value / whole, how="")
            for kind, value in parts.items()
        ),
        shares={},
        missing={},
    )


STEP = anatomy(input=0.002, callbacks=0.001, python=0.0005, launch=0.0005, compute=0.005, memory=0.001)


def facts(profile=None, operations=None, ceilings=None, record=None, step=STEP):
    return speed_facts(
        record or make_record(),
        step,
        profile or make_profile(),
        operations,
        ceilings,
    )


def with_host(**host: object):
    record = make_record()
    environment = dataclasses.replace(record.environment, host={**record.environment.host, **host})
    return dataclasses.replace(record, environment=environment)


def test_every_fact_that_is_supplied_is_in_the_catalogue_and_has_a_value() -> None:
    found = facts(operations=make_operations(), ceilings=make_ceilings())

    assert set(found.values) <= set(SPEED_FACTS)
    assert None not in found.values.values()
    assert not set(found.values) & set(found.unknown)


def test_parts_of_the_step_are_joined_by_what_can_be_done_about_them() -> None:
    found = facts()

    assert found.get("host_s") == pytest.approx(0.001)
    assert found.get("compute_s") == pytest.approx(0.005)
    assert found.get("run_steps") == 18_750


def test_callbacks_are_those_of_the_person_and_saving_is_apart() -> None:
    costs = (
        CallbackCost(name="Board", by="steptime", step_s=9.0, epoch_s=None),
        CallbackCost(name="Logger", by="person", step_s=0.001, epoch_s=1.875),
        CallbackCost(name="ModelCheckpoint", by="person", step_s=0.004, epoch_s=None, saves=True),
    )
    found = facts(make_profile(callbacks=costs))

    assert found.get("slowest_callback") == "Logger"
    assert found.get("slowest_callback_s") == pytest.approx(0.002)
    assert found.get("checkpoint") == "ModelCheckpoint"


def test_what_callbacks_do_between_epochs_is_no_part_of_the_step_but_of_the_training() -> None:
    costs = (CallbackCost(name="ModelCheckpoint", by="person", step_s=0.0, epoch_s=18.75, saves=True),)
    found = facts(make_profile(callbacks=costs, validation=None))
    (saving,) = (f for f in evaluate(RULES, found).findings if f.kind == "checkpoint-share")

    assert found.get("checkpoint_epoch_s") == pytest.approx(0.010)
    assert saving.saves_share == pytest.approx(0.010 / (found.get("step_s") + 0.010))
    assert "save_freq='epoch'" not in " ".join(saving.remedy.lines)


def test_a_checkpoint_within_epochs_is_to_be_written_at_their_ends() -> None:
    costs = (CallbackCost(name="ModelCheckpoint", by="person", step_s=0.004, epoch_s=None, saves=True),)
    (saving,) = (
        f
        for f in evaluate(RULES, facts(make_profile(callbacks=costs))).findings
        if f.kind == "checkpoint-share"
    )

    assert "save_freq='epoch'" in " ".join(saving.remedy.lines)


def test_without_callbacks_it_is_known_that_they_take_no_time() -> None:
    fine = {check["kind"] for check in evaluate(RULES, facts()).fine}

    assert {"callback-share", "checkpoint-share"} <= fine


def test_a_gpu_s_launches_and_copies_come_from_the_trace() -> None:
    busy = Busy(
        device="gpu:0",
        lanes=1,
        busy_s=0.001,
        idle_s=0.003,
        longest_gap_s=0.001,
        gaps=3,
        launches=400.4,
        small_launches=1,
    )
    copies = (Copy(kind="host to device", memory="pageable", count=1, bytes=4e7, time_s=0.004),)
    found = facts(operations=make_operations(busy=(busy,), copies=copies), ceilings=make_ceilings())

    assert found.get("launches") == 400
    assert found.get("launch_s") == pytest.approx(3e-6)
    assert found.get("pageable_copy_s") == pytest.approx(0.004)


def test_copies_whose_memory_the_trace_does_not_tell_are_unknown() -> None:
    busy = Busy(
        device="gpu:0", lanes=1, busy_s=1, idle_s=1, longest_gap_s=1, gaps=1, launches=1, small_launches=1
    )
    copies = (Copy(kind="host to device", memory=None, count=1, bytes=4e7, time_s=0.004),)

    assert facts(operations=make_operations(busy=(busy,), copies=copies)).get("pageable_copy_s") is None


def test_copies_within_the_device_need_no_memory_to_be_told() -> None:
    busy = Busy(
        device="gpu:0", lanes=1, busy_s=1, idle_s=1, longest_gap_s=1, gaps=1, launches=1, small_launches=1
    )
    copies = (
        Copy(kind="host to device", memory="pageable", count=1, bytes=4e7, time_s=0.004),
        Copy(kind="device to device", memory=None, count=1, bytes=4e7, time_s=0.001),
    )

    found = facts(operations=make_operations(busy=(busy,), copies=copies))
    assert found.get("pageable_copy_s") == pytest.approx(0.004)


def test_other_work_and_throttling_come_from_the_sensors() -> None:
    use = DeviceUse(
        name="cpu", samples=9, utilisation_share=0.9, own_utilisation_share=0.4, other_work_share=0.5,
        memory_peak_bytes=None, power_mean_w=None, energy_j=None, energy_source=None, energy_idle_j=None,
        temperature_peak_c=None, clock_mean_mhz=None, throttled_share=0.2,
        throttle_shares={"power": 0.05, "thermal": 0.2},
    )  # fmt: skip
    found = facts(record=make_record(devices=(use,)))

    assert found.get("other_work_share") == 0.5
    assert found.get("throttle_reasons") == ("thermal", "power")


def test_threads_left_to_tensorflow_are_as_many_as_processors() -> None:
    found = facts(record=with_host(usable_cores=8, cpu_quota_cores=2.0))

    assert found.get("threads") == 8
    assert found.get("cores_usable") == 2.0
    assert "too-many-threads" in {finding.kind for finding in evaluate(RULES, found).findings}


@pytest.mark.parametrize(("quota", "threads"), [(0.5, "1"), (1.5, "1"), (2.0, "2")])
def test_threads_are_set_to_whole_processors(quota: float, threads: str) -> None:
    found = facts(record=with_host(usable_cores=8, cpu_quota_cores=quota, physical_cores=16))
    remedies = {finding.kind: finding.remedy for finding in evaluate(RULES, found).findings}

    patch = remedies["too-many-threads"].patch
    assert change(Settings(), patch, "a rule").threads == int(threads)
    assert patch["threads"] == threads


def test_a_record_without_a_profile_says_what_it_can_and_names_the_command() -> None:
    record = make_record(make_plan(epochs=2))
    found = speed_facts(record, UNKNOWN)

    assert found.get("validation_s") == pytest.approx(1.5)
    assert found.get("train_epoch_s") == pytest.approx(20.0)
    assert "steptime profile mnist-cnn" in found.unknown["input_s"]
    assert (
        "steptime profile mnist-cnn"
        in {check["kind"]: check["why"] for check in evaluate(RULES, found).unchecked}["callback-share"]
    )


@pytest.mark.parametrize(("epochs", "every"), [(10, "5"), (3, "3"), (1, None)])
def test_validating_less_often_still_validates_once(epochs: int, every: str | None) -> None:
    profile = make_profile(epochs=epochs)
    validation = dataclasses.replace(profile.validation, epoch_s=100.0)
    found = evaluate(RULES, facts(dataclasses.replace(profile, validation=validation))).findings
    remedies = {finding.kind: finding.remedy.patch for finding in found}

    assert remedies.get("validation-share") == ({"validation_freq": every} if every else None)


def test_a_profile_without_a_trace_names_it() -> None:
    found = facts(make_profile(unavailable={"trace": "the profiler was busy"}))

    assert "the profiler was busy" in found.unknown["optimizer_s"]


def test_eager_steps_and_the_loop_are_told() -> None:
    loop = Loop(
        name="graph+kernels", reason="", is_resident=True, is_stock=False, run_eagerly=True, jit_compile=False,
        steps_per_execution=1,
    )  # fmt: skip
    found = facts(make_profile(loop=loop))

    assert found.get("loop") == "graph"
    assert found.get("exact_kernels_used") is True
    assert found.get("eager") is True


def test_layers_that_keep_keras_from_xla_are_named() -> None:
    turn = Layer(
        name="turn", kind="RandomRotation", parameters=0, output_shape="", dtype="float32", supports_xla=False
    )

    found = facts(make_profile(layers=(turn,)))
    assert found.get("layers_without_xla") == ("turn (RandomRotation)",)


def test_a_timing_that_was_not_made_is_unknown() -> None:
    profile = make_profile()
    timings = dataclasses.replace(profile.timings, resident=dataclasses.replace(make_timing(1.0), step_s=()))

    assert facts(dataclasses.replace(profile, timings=timings)).get("resident_step_s") is None


@pytest.mark.parametrize(("ratio", "batch_size"), [(1.0, 512), (1.5, 128), (1.96, 64)])
def test_the_next_batch_is_the_first_with_which_the_device_is_busy(ratio: float, batch_size: int) -> None:
    found = facts(step=dataclasses.replace(STEP, doubling_ratio=ratio))

    assert found.get("batch_size_next") == batch_size
    assert found.get("doubled_step_s") == pytest.approx(0.0098 * ratio)


def test_a_part_that_cannot_be_told_from_nothing_is_nothing() -> None:
    parts = tuple(
        dataclasses.replace(part, step_s=Span(value=0.002, low=-0.001, high=0.005))
        if part.kind == "input"
        else part
        for part in STEP.parts
    )

    assert facts(step=dataclasses.replace(STEP, parts=parts)).get("input_s") == 0
