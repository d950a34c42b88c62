"""A document is data."""

import dataclasses

import pytest

from steptime.report.document import Document, Text


def test_a_document_cannot_be_changed() -> None:
    document = Document(title="a", parts=(Text(text="b"),))

    with pytest.raises(dataclasses.FrozenInstanceError):
        document.title = "c"  # type: ignore[misc]
    assert document == Document(title="a", parts=(Text(text="b"),))
