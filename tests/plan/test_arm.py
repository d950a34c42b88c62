"""Arms: how they are said, named, found and turned into settings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.errors import UsageError
from steptime.plan.arm import Arm, default_arms, distinct, find_arm, parse_arm, settings_of
from steptime.plan.settings import Settings


def test_an_arm_is_a_device_and_settings() -> None:
    arm = parse_arm("gpu:1, precision=mixed_float16,batch-size=64")

    assert arm.changes == {"device": "gpu:1", "precision": "mixed_float16", "batch_size": "64"}
    assert arm.name == "gpu:1 precision=mixed_float16 batch_size=64"


def test_an_arm_may_leave_the_device_out() -> None:
    assert parse_arm("loop=xla").changes == {"loop": "xla"}


def test_an_arm_may_have_a_name_of_its_own() -> None:
    arm = parse_arm("cpu,loop=keras,name=tutorial")

    assert arm == Arm(name="tutorial", changes={"device": "cpu", "loop": "keras"})


@pytest.mark.parametrize("text", ["", ",", "cpu,gpu", "name=only", "cpu,=3"])
def test_what_is_not_an_arm_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_arm(text)


@pytest.mark.parametrize(
    ("text", "wrong"), [("cpu,loop=warp", "warp"), ("tpu", "tpu"), ("cpu,speed=9", "speed")]
)
def test_a_wrong_setting_is_named(text: str, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        parse_arm(text)


@given(
    st.sampled_from(["cpu", "gpu", "gpu:3", None]),
    st.dictionaries(
        st.sampled_from(["loop", "batch_size", "name"]), st.sampled_from(["xla", "64", "fast"]), max_size=3
    ),
)
def test_the_text_of_an_arm_says_the_same_arm_again(device: str | None, pairs: dict[str, str]) -> None:
    values = {"loop": "xla", "batch_size": "64", "name": "fast"}
    parts = ([device] if device else []) + [f"{key}={values[key]}" for key in pairs]
    try:
        arm = parse_arm(",".join(parts))
    except UsageError:
        return  # nothing but a name, or nothing at all

    assert parse_arm(arm.text) == arm


def test_default_arms_are_both_loops_on_every_device() -> None:
    assert [arm.text for arm in default_arms(0)] == ["cpu,loop=keras", "cpu"]
    assert [arm.text for arm in default_arms(1)] == ["cpu,loop=keras", "cpu", "gpu,loop=keras", "gpu"]
    assert [arm.text for arm in default_arms(2)][2:] == [
        "gpu:0,loop=keras",
        "gpu:0",
        "gpu:1,loop=keras",
        "gpu:1",
    ]


def test_an_arm_can_be_compared_with_itself() -> None:
    names = [arm.name for arm in distinct([parse_arm("cpu"), parse_arm("cpu"), parse_arm("cpu")])]

    assert names == ["cpu", "cpu (2)", "cpu (3)"]


def test_the_baseline_is_the_first_arm_or_the_one_that_is_named() -> None:
    arms = (parse_arm("cpu,loop=keras"), parse_arm("cpu"))

    assert find_arm(arms, None) is arms[0]
    assert find_arm(arms, "cpu") is arms[1]
    assert find_arm(arms, "cpu,loop=keras") is arms[0]
    assert find_arm(arms, "cpu loop=keras") is arms[0]
    with pytest.raises(UsageError, match="gpu"):
        find_arm(arms, "gpu")


def test_all_arms_share_the_seed_of_a_repeat_and_repeats_have_different_ones() -> None:
    base = Settings(seed=7, epochs=3)
    first, second = (settings_of(parse_arm(text), base, 0) for text in ("cpu,loop=keras", "cpu"))

    assert (first.seed, second.seed) == (7, 7)
    assert (first.loop, first.epochs) == ("keras", 3)
    assert settings_of(parse_arm("cpu"), base, 1).seed == 8
    assert first.name == "cpu-loop-keras-1"


def test_a_name_full_of_markup_still_makes_a_folder() -> None:
    arm = Arm(name="<script>/../" * 20, changes={"device": "cpu"})

    name = settings_of(arm, Settings(), 0).name

    assert name is not None
    assert "/" not in name
    assert len(name) <= 64
