"""``model_facts.json`` survives the way to the disk and back."""

from pathlib import Path

import pytest

from steptime.errors import RecordError
from steptime.record.model_facts import ModelFacts, read_model_facts, write_model_facts


def test_facts_are_read_as_they_were_written(tmp_path: Path) -> None:
    facts = ModelFacts(values={"gpus": 0, "heads": [{"name": "a"}]}, unknown={"rnns": "why"}, gathered_s=0.25)
    write_model_facts(tmp_path, facts)

    assert read_model_facts(tmp_path) == facts


def test_a_run_without_facts_has_none(tmp_path: Path) -> None:
    assert read_model_facts(tmp_path) is None


def test_facts_this_version_does_not_know_are_left_out(tmp_path: Path) -> None:
    write_model_facts(tmp_path, ModelFacts(values={"gpus": 1, "of the future": 2}))

    assert read_model_facts(tmp_path) == ModelFacts(values={"gpus": 1})


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"format": "steptime-model-facts-1", "facts": 3}'])
def test_a_damaged_file_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "model_facts.json").write_text(content)

    with pytest.raises(RecordError):
        read_model_facts(tmp_path)
