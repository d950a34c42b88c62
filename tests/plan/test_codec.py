"""Dataclasses to JSON and back."""

import dataclasses
import json
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.errors import RecordError
from steptime.plan.codec import from_json, to_json
from steptime.plan.plan import Placement, Plan, Protocol
from steptime.plan.settings import Settings
from steptime.plan.workload import Workload
from steptime.record.schema import Epoch, Outcome, Phase, Proof, RunRecord, StepTimes
from steptime.testing import make_record

TEXT = st.text(max_size=20)
COUNT = st.integers(min_value=1, max_value=2**40)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def settings_values(declaration: "dataclasses.Field[Any]") -> st.SearchStrategy[Any]:
    """Every value that a setting accepts, made from its declaration."""
    limits = declaration.metadata
    if limits["choices"]:
        return st.sampled_from(limits["choices"])
    if limits["pattern"]:
        values: st.SearchStrategy[Any] = st.from_regex(limits["pattern"], fullmatch=True)
    elif "bool" in str(declaration.type):
        values = st.booleans()
    elif "int" in str(declaration.type):
        values = st.integers(min_value=limits["minimum"], max_value=2**31)
    elif "float" in str(declaration.type):
        values = st.floats(min_value=0.0, max_value=1.0, exclude_min=True, exclude_max=True)
    else:
        values = TEXT
    return st.none() | values if "None" in str(declaration.type) else values


SETTINGS = st.builds(Settings, **{item.name: settings_values(item) for item in dataclasses.fields(Settings)})
WORKLOADS = st.builds(Workload, name=TEXT, kind=TEXT, target=TEXT, compile_function=TEXT)
PLACEMENTS = st.builds(Placement, device=TEXT, reason=TEXT, visible_devices=TEXT)
PLANS = st.builds(
    Plan,
    workload=WORKLOADS,
    settings=SETTINGS,
    protocol=st.builds(Protocol, time_limit_s=st.none() | st.floats(min_value=0.1, max_value=1e9)),
    placement=st.none() | PLACEMENTS,
    export=st.none() | TEXT,
    command=st.lists(TEXT, max_size=3).map(tuple),
)
EPOCHS = st.builds(
    Epoch,
    epoch=COUNT,
    logs=st.dictionaries(TEXT, st.none() | FINITE, max_size=3),
    steps=COUNT,
    train_ns=COUNT,
    validate_ns=st.none() | COUNT,
)
PROOFS = st.builds(
    Proof,
    planned_device=TEXT,
    compute_ops=st.dictionaries(TEXT, COUNT, max_size=2),
    heavy_ops=st.dictionaries(TEXT, st.lists(TEXT, max_size=2).map(tuple), max_size=2),
    variables=st.dictionaries(TEXT, COUNT, max_size=2),
    contradiction=st.none() | TEXT,
)
RECORDS = st.builds(
    RunRecord,
    schema_version=st.just(1),
    steptime_version=TEXT,
    run_id=TEXT,
    created=TEXT,
    plan=PLANS,
    outcome=st.builds(
        Outcome, status=TEXT, phase=TEXT, reason=st.none() | TEXT, log_tail=st.just(("a", "b"))
    ),
    phases=st.lists(st.builds(Phase, name=TEXT, duration_ns=COUNT), max_size=3).map(tuple),
    epochs=st.lists(EPOCHS, max_size=2).map(tuple),
    proof=st.none() | PROOFS,
    steps=st.none()
    | st.builds(
        StepTimes,
        samples_per_s=st.none() | FINITE,
        step_ns=st.none() | FINITE,
        first_block_ns=st.none() | COUNT,
        steady_blocks=COUNT,
        blocks=COUNT,
    ),
    execution=st.none() | st.dictionaries(TEXT, st.none() | TEXT | COUNT | st.lists(FINITE), max_size=2),
)


def through_text(value: object) -> Any:
    return json.loads(json.dumps(to_json(value)))


@given(SETTINGS)
@hypothesis.settings(max_examples=50)
def test_settings_survive_the_round_trip(settings: Settings) -> None:
    assert from_json(Settings, through_text(settings)) == settings


@given(PLANS)
@hypothesis.settings(max_examples=25)
def test_a_plan_survives_the_round_trip(plan: Plan) -> None:
    assert from_json(Plan, through_text(plan)) == plan


@given(RECORDS)
@hypothesis.settings(max_examples=25)
def test_a_record_survives_the_round_trip(record: RunRecord) -> None:
    assert from_json(RunRecord, through_text(record)) == record


def test_the_record_that_tests_are_made_with_survives_the_round_trip() -> None:
    record = make_record()

    assert from_json(RunRecord, through_text(record)) == record


def damaged(path: str, value: object) -> Any:
    """The JSON of a record with the value at a dotted path replaced."""
    content = through_text(make_record())
    *parents, last = path.split(".")
    place = content
    for key in parents:
        place = place[int(key)] if key.isdigit() else place[key]
    place[last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("outcome", None, r"RunRecord\.outcome must be an object\. Received: None"),
        ("outcome.status", 3, r"RunRecord\.outcome\.status must be a value of type str"),
        ("epochs", {}, r"RunRecord\.epochs must be an array"),
        ("epochs.0.steps", 1.5, r"RunRecord\.epochs\[0\]\.steps must be a whole number"),
        ("epochs.0.steps", True, r"RunRecord\.epochs\[0\]\.steps must be a whole number"),
        ("steps.step_ns", "fast", r"RunRecord\.steps\.step_ns must be a number"),
        ("proof.compute_ops", [], r"RunRecord\.proof\.compute_ops must be an object"),
        ("colour", "red", r"RunRecord must be only the keys .* Received: \['colour'\]"),
        (
            "plan.settings.epochs",
            0,
            r"RunRecord\.plan\.settings: epochs must be a whole number of at least 1",
        ),
        ("plan.protocol.time_limit_s", -1, r"RunRecord\.plan\.protocol: The time limit must be"),
    ],
)
def test_what_does_not_fit_the_schema_is_named_with_its_place(path: str, value: object, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        from_json(RunRecord, damaged(path, value))


def test_a_missing_key_is_named() -> None:
    content = through_text(make_record())
    del content["outcome"]["phase"]

    with pytest.raises(RecordError, match=r"must be the keys \['phase'\]"):
        from_json(RunRecord, content)


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(RecordError) as caught:
        from_json(Settings, "x" * 1000)

    assert len(caught.value.message) < 150


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A tuple of fixed length."""

    place: tuple[int, str]


def test_a_tuple_of_fixed_length_is_read_by_position() -> None:
    assert from_json(Pair, {"place": [1, "a"]}) == Pair(place=(1, "a"))
    with pytest.raises(RecordError, match="an array of 2"):
        from_json(Pair, {"place": [1]})
