"""Settings: reading, limits, and the words for both."""

import contextlib
import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.errors import UsageError
from steptime.plan.settings import Settings, change, describe, parse_pairs


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("epochs", "3", 3),
        ("batch-size", "1_024", 1024),
        ("learning_rate", "1e-3", 0.001),
        ("learning_rate", "None", None),
        ("threads", "", None),
        ("tf32", "off", False),
        ("shuffle", "Yes", True),
        ("device", "gpu:1", "gpu:1"),
        ("name", "none", None),
        ("loss", "mse", "mse"),
    ],
)
def test_text_is_read_by_the_type_of_the_key(key: str, text: str, value: object) -> None:
    settings = change(Settings(), {key: text}, "--set")

    assert getattr(settings, key.replace("-", "_")) == value


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("epochs", "-1", "epochs must be a whole number of at least 1. Received: -1"),
        ("epochs", "many", "epochs must be a whole number of at least 1. Received: 'many'"),
        ("epochs", 2.0, "epochs must be a whole number of at least 1. Received: 2.0"),
        ("epochs", True, "epochs must be a whole number of at least 1. Received: True"),
        ("batch_size", "0", "batch_size must be a whole number of at least 1. Received: 0"),
        (
            "steps_per_epoch",
            "0",
            "steps_per_epoch must be a whole number of at least 1, or none. Received: 0",
        ),
        (
            "seed",
            str(2**32),
            "seed must be a whole number of at least 0 and below 4294967296. Received: 4294967296",
        ),
        ("learning_rate", "0", "learning_rate must be a number above 0, or none. Received: 0.0"),
        ("learning_rate", "nan", "learning_rate must be a number above 0, or none. Received: nan"),
        ("learning_rate", "inf", "learning_rate must be a number above 0, or none. Received: inf"),
        (
            "validation_split",
            "1",
            "validation_split must be a number of at least 0 and below 1. Received: 1.0",
        ),
        ("device", "tpu", "device must be auto, cpu, gpu or gpu:N. Received: 'tpu'"),
        (
            "precision",
            "float16",
            "precision must be one of float32, mixed_float16, mixed_bfloat16. Received: 'float16'",
        ),
        ("tf32", "maybe", "tf32 must be true or false. Received: 'maybe'"),
        ("tf32", 1, "tf32 must be true or false. Received: 1"),
        (
            "name",
            "a/b",
            (
                "name must be at most 64 letters, digits, dots, dashes and underscores, a letter or digit "
                "first, or none. Received: 'a/b'"
            ),
        ),
        ("optimizer", 3, "optimizer must be text. Received: 3"),
    ],
)
def test_a_value_outside_the_limits_is_refused_with_the_limits(key: str, value: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        change(Settings(), {key: value}, "--set")

    assert caught.value.message == message
    assert caught.value.hint


def test_an_unknown_key_names_the_nearest_right_one() -> None:
    with pytest.raises(UsageError, match=r"--set must name a setting\. Received: 'batchsize'") as caught:
        change(Settings(), {"batchsize": "3"}, "--set")

    assert caught.value.hint == "Did you mean 'batch_size'?"


def test_an_unknown_key_that_resembles_none_points_to_the_list() -> None:
    with pytest.raises(UsageError) as caught:
        change(Settings(), {"zzz": "3"}, "a.toml")

    assert caught.value.hint == "`steptime settings` lists every key."


def test_what_is_not_named_stays() -> None:
    before = Settings(epochs=7, seed=3)

    assert change(before, {"seed": "4"}, "--set") == Settings(epochs=7, seed=4)
    assert change(before, {}, "--set") == before


@given(st.sampled_from([item.name for item in dataclasses.fields(Settings)]), st.text(max_size=30))
def test_any_text_for_any_key_is_either_taken_or_a_usage_error(key: str, text: str) -> None:
    with contextlib.suppress(UsageError):
        settings = change(Settings(), {key: text}, "--set")
        assert dataclasses.replace(settings, **{key: getattr(Settings(), key)}) == Settings()


def test_pairs_are_split_at_the_first_equals_sign() -> None:
    assert parse_pairs(["loss = a=b", "seed=1", "seed=2"], "--set") == {"loss": "a=b", "seed": "2"}


@pytest.mark.parametrize("text", ["seed", "=1", ""])
def test_a_pair_without_key_or_equals_sign_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--set must be KEY=VALUE"):
        parse_pairs([text], "--set")


def test_every_setting_is_described() -> None:
    rows = {row[0]: row for row in describe()}

    assert list(rows) == [item.name for item in dataclasses.fields(Settings)]
    assert all(meaning.endswith((".", ")")) for *_, meaning in rows.values())
    assert rows["steps_per_epoch"][1:3] == ("int | none", "none")
    assert rows["loop"][1:3] == ("auto | keras | graph | xla", "auto")
    assert rows["tf32"][1:3] == ("bool", "true")
