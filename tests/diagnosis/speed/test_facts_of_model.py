"""Facts about a model's layers and arithmetic, from its profile, its trace and the device's ceilings."""

import dataclasses

import pytest

from steptime.analysis.anatomy import Anatomy, Part, Span
from steptime.diagnosis.speed.facts_of_model import model_facts
from steptime.plan.plan import Placement
from steptime.record.operations import LayerTime
from steptime.record.profile import Layer
from steptime.testing import make_ceilings, make_operations, make_profile, make_record

STEP = Anatomy(
    bound="compute",
    why="",
    step_s=Span(value=0.006, low=0.006, high=0.006),
    parts=tuple(
        Part(kind=kind, resource="device", step_s=Span(value=value, low=value, high=value), share=0.5, how="")
        for kind, value in (("compute", 0.005), ("memory", 0.001))
    ),
    shares={},
    missing={},
)


def facts(profile=None, operations=None, ceilings=None, record=None):
    return model_facts(profile or make_profile(), operations, ceilings, STEP, record or make_record())


def with_host(**host: object):
    record = make_record()
    environment = dataclasses.replace(record.environment, host={**record.environment.host, **host})
    return dataclasses.replace(record, environment=environment)


def test_times_of_layers_are_scaled_to_the_time_on_the_device() -> None:
    waiting = LayerTime(layer="(input)", kind="", device="host", forward_s=9.0, backward_s=0.0, count=1)
    operations = make_operations(layers=(*make_operations().layers, waiting))
    found = facts(operations=operations)
    traced_s = 0.0034 + 0.0042 + 0.0004 + 0.0008 + 0.0007

    assert found.get("optimizer_s") == pytest.approx(0.0007 * 0.006 / traced_s)
    assert found.get("largest_dense") == "dense"


def test_widths_batch_normalisation_and_types_come_from_the_layers() -> None:
    layers = (
        Layer(name="d", kind="Dense", parameters=10, output_shape="", dtype="float64", width=250),
        Layer(name="bn", kind="BatchNormalization", parameters=10, output_shape="", dtype="float32"),
    )
    times = (
        LayerTime(
            layer="bn", kind="BatchNormalization", device="host", forward_s=0.003, backward_s=0.0, count=1
        ),
    )
    found = facts(make_profile(layers=layers), make_operations(layers=times))

    assert found.get("odd_widths") == ("d (250)",)
    assert found.get("batch_norms") == 1
    assert found.get("batch_norm_s") > 0
    assert found.get("float_type") == "float64"


def test_each_layer_wastes_the_share_of_its_own_padding() -> None:
    layers = tuple(
        Layer(name=f"d{width}", kind="Dense", parameters=10, output_shape="", dtype="float32", width=width)
        for width in (1001, 9)
    )
    times = tuple(
        LayerTime(layer=name, kind="Dense", device="host", forward_s=time_s, backward_s=0.0, count=1)
        for name, time_s in (("d1001", 0.0059), ("d9", 0.0001))
    )
    found = facts(make_profile(layers=layers), make_operations(layers=times))

    assert found.get("odd_widths_s") == pytest.approx(0.006)
    assert found.get("odd_widths_waste_s") == pytest.approx(0.0059 * 7 / 1008 + 0.0001 * 7 / 16)


@pytest.mark.parametrize(
    ("device", "visible", "is_fit"),
    [
        ("gpu:0", "GPU-old", False),
        ("gpu:1", "GPU-new", True),
        ("gpu:0", "GPU-new", True),  # the second card, which alone is shown
        ("gpu:1", "", True),
        ("gpu:2", "", None),
    ],
)
def test_tensor_cores_are_those_of_the_gpu_that_was_trained_on(device, visible, is_fit) -> None:
    gpus = (
        {"index": 0, "uuid": "GPU-old", "compute_capability": "6.1"},
        {"index": 1, "uuid": "GPU-new", "compute_capability": "8.0"},
    )
    record = make_record()
    plan = dataclasses.replace(
        record.plan, placement=Placement(device=device, reason="", visible_devices=visible)
    )
    environment = dataclasses.replace(record.environment, gpus=gpus)
    record = dataclasses.replace(record, device=device, plan=plan, environment=environment)

    assert facts(record=record).get("tensor_cores") is is_fit


@pytest.mark.parametrize(
    ("rates", "half", "speedup"),
    [
        ({"float32": 80e9, "bfloat16": 60e9}, "none", 0.75),
        ({"float32": 80e9, "bfloat16": 160e9}, "mixed_bfloat16", 2.0),
        ({"float32": 19e12, "tf32": 100e12, "bfloat16": 240e12, "float16": 250e12}, "mixed_float16", 2.5),
    ],
)
def test_half_precision_is_judged_by_rates_that_were_measured(rates, half, speedup) -> None:
    found = facts(
        ceilings=make_ceilings(flops_per_s=rates), record=with_host(cpu_features=["avx2", "amx_tile"])
    )

    assert found.get("half_precision") == half
    assert found.get("half_speedup") == pytest.approx(speedup)


def test_a_processor_without_instructions_for_half_precision_is_not_believed_to_be_faster_in_it() -> None:
    fast = make_ceilings(flops_per_s={"float32": 80e9, "bfloat16": 160e9})

    assert facts(ceilings=fast, record=with_host(cpu_features=["avx2"])).get("half_precision") == "none"
