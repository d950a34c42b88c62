"""Unlike things are found, named and refused."""

import dataclasses

import pytest

from steptime.analysis.differences import find_differences, refused
from steptime.plan.arm import parse_arm, settings_of
from steptime.plan.settings import Settings
from steptime.record.schema import RunRecord
from steptime.testing import make_plan, make_record


def of_arm(text: str, repeat: int = 0) -> RunRecord:
    arm = parse_arm(text)
    settings = settings_of(arm, Settings(device="cpu", epochs=2), repeat)
    return make_record(dataclasses.replace(make_plan(), arm=arm, settings=settings))


def keys(one: RunRecord, other: RunRecord) -> set[str]:
    return {item.key for item in find_differences({"one": [one], "other": [other]})}


def test_what_arms_say_is_no_difference() -> None:
    assert keys(of_arm("cpu,loop=keras"), of_arm("cpu,batch_size=64,optimizer=sgd")) == set()


def test_runs_without_arms_may_differ_in_how_steps_are_executed() -> None:
    one, other = (
        make_record(make_plan(loop="keras")),
        make_record(make_plan(loop="xla", precision="mixed_float16")),
    )

    assert keys(one, other) == set()


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"plan": make_plan(epochs=3)}, "epochs"),
        ({"plan": make_plan(batch_size=64)}, "batch_size"),
        ({"plan": make_plan(seed=5)}, "seed"),
        ({"plan": make_plan("mnist-mlp")}, "workload"),
        ({"steptime_version": "9.9"}, "steptime"),
        ({"job": dataclasses.replace(make_record().job, train_samples=7)}, "data"),
        ({"job": dataclasses.replace(make_record().job, parameters=7)}, "model"),
        ({"job": dataclasses.replace(make_record().job, optimizer="SGD")}, "job.optimizer"),
        ({"environment": dataclasses.replace(make_record().environment, python="3.13.0")}, "python"),
        (
            {"environment": dataclasses.replace(make_record().environment, workload_sha256="ab" * 32)},
            "workload_source",
        ),
        ({"environment": dataclasses.replace(make_record().environment, packages={})}, "packages.keras"),
        ({"environment": dataclasses.replace(make_record().environment, flags={"TF_X": "1"})}, "flags.TF_X"),
        ({"environment": dataclasses.replace(make_record().environment, host={"cpu_model": "B"})}, "machine"),
    ],
)
def test_a_difference_that_no_arm_says_is_found(change: dict, key: str) -> None:
    assert key in keys(make_record(make_plan()), make_record(**({"plan": make_plan()} | change)))


def test_an_arm_that_was_stopped_early_has_fewer_seeds_and_that_is_fine() -> None:
    records = {"one": [of_arm("cpu", 0), of_arm("cpu", 1)], "other": [of_arm("loop=xla", 0)]}

    assert find_differences(records) == ()


def test_a_source_that_changed_between_repeats_is_found() -> None:
    changed = dataclasses.replace(make_record().environment, workload_sha256="ab" * 32)
    records = {
        "one": [make_record(), dataclasses.replace(make_record(), environment=changed)],
        "other": [make_record(), make_record()],
    }

    assert [item.key for item in find_differences(records)] == ["workload_source"]


def test_what_somebody_insists_on_is_allowed_by_its_key_or_its_group() -> None:
    found = find_differences({"one": [make_record()], "other": [make_record(make_plan(epochs=3))]})

    assert [item.key for item in refused(found, ())] == ["epochs"]
    assert refused(found, ("epochs",)) == ()
    packages = dataclasses.replace(make_record().environment, packages={"keras": "9"})
    found = find_differences({"one": [make_record()], "other": [make_record(environment=packages)]})
    assert refused(found, ("packages",)) == ()
