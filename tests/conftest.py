"""Keeps TensorFlow and Ray out of a run that deselects their tests."""

import re
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine must not fail a property: time per example is no law.
settings.register_profile("steptime", deadline=None, max_examples=25)
settings.load_profile("steptime")

ALL_NEED = {
    name: re.compile(rf"^pytestmark = \[?\s*pytest\.mark\.{name}\b", re.MULTILINE)
    for name in ("tensorflow", "ray")
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With -m 'not tensorflow', files that are marked as a whole are not even imported: that would take seconds."""
    left_out = [mark for name, mark in ALL_NEED.items() if f"not {name}" in config.option.markexpr]
    if left_out and collection_path.match("test_*.py"):
        text = collection_path.read_text(encoding="utf-8")
        return any(mark.search(text) for mark in left_out) or None
    return None
