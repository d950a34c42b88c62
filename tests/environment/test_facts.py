import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.environment.catalogue import FACTS
from steptime.environment.facts import Facts, from_json, known, merge, to_json
from steptime.errors import RecordError

VALUES = st.one_of(
    st.booleans(),
    st.integers(0, 10**9),
    st.text(max_size=20),
    st.lists(st.text(max_size=9), max_size=3).map(tuple),
)


def test_what_comes_later_wins_and_what_is_known_wins_over_what_is_not():
    facts = merge(
        known({"os": "linux"}, "log"),
        known({"os": "windows"}, "stated"),
        Facts(unknown={"os": "?", "gpu": "no driver"}),
    )
    assert facts.get("os") == "windows"
    assert facts.origins["os"] == "stated"
    assert facts.unknown == {"gpu": "no driver"}


def test_a_name_that_no_reader_supplies_is_a_mistake():
    with pytest.raises(KeyError):
        Facts().get("colour")


@given(
    st.dictionaries(st.sampled_from(sorted(FACTS)), VALUES, max_size=8),
    st.lists(st.text(max_size=20), max_size=3),
)
def test_facts_survive_the_file(values, texts):
    facts = from_json(to_json(known(values, "read here", tuple(texts))))
    assert facts.values == values
    assert facts.texts == tuple(texts)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "nothing", '{"format": "steptime-facts-1", "facts": 3}', '{"format": "other"}']
)
def test_another_file_is_refused_with_a_hint(text):
    with pytest.raises(RecordError, match="steptime doctor --save") as caught:
        from_json(text)
    assert "--save" in caught.value.hint


def test_facts_of_a_newer_version_are_left_out():
    text = (
        '{"format": "steptime-facts-1", "facts": {"os": "linux", "new_fact": 1}, "unknown": '
        '{"newer": "x"}, "texts": []}'
    )
    assert from_json(text).values == {"os": "linux"}
