"""The record describes itself."""

import dataclasses

from steptime.record import schema


def test_every_field_of_every_part_has_a_meaning() -> None:
    described = {name: fields for name, _, fields in schema.describe()}

    assert set(described) == {section.__name__ for section in schema.SECTIONS}
    for section in schema.SECTIONS:
        assert [row[0] for row in described[section.__name__]] == [
            f.name for f in dataclasses.fields(section)
        ]
    assert all(len(meaning) > 3 for fields in described.values() for _, _, meaning in fields)


def test_types_are_written_without_module_names() -> None:
    kinds = [kind for _, _, fields in schema.describe() for _, kind, _ in fields]

    assert "tuple[Phase, ...]" in kinds
    assert "Mapping[str, float | None]" in kinds
    assert not [kind for kind in kinds if "steptime." in kind or "collections" in kind]


def test_the_history_of_the_schema_names_its_present_version() -> None:
    assert f"\n    {schema.SCHEMA_VERSION}  " in (schema.__doc__ or "")
