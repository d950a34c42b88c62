"""Keeps TensorFlow out of a run that deselects its tests."""

import re
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine must not fail a property: time per example is no law.
settings.register_profile("steptime", deadline=None, max_examples=25)
settings.load_profile("steptime")

ALL_NEED_TENSORFLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.tensorflow\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With -m 'not tensorflow', files that are marked as a whole are not even imported: that would take seconds."""
    if "not tensorflow" in config.option.markexpr and collection_path.match("test_*.py"):
        return bool(ALL_NEED_TENSORFLOW.search(collection_path.read_text(encoding="utf-8"))) or None
    return None
