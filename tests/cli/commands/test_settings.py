"""``steptime settings``."""

import dataclasses
import json
from typing import Any

from steptime.plan.settings import Settings

KEYS = [item.name for item in dataclasses.fields(Settings)]


def test_every_key_is_listed(steptime: Any) -> None:
    code, out, err = steptime("settings")

    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines() if line[2:3].strip()] == ["key", *KEYS]


def test_json_holds_key_type_default_and_meaning(steptime: Any) -> None:
    rows = json.loads(steptime("settings", "--json").out)

    assert [row["key"] for row in rows] == KEYS
    assert all(set(row) == {"key", "type", "default", "meaning"} for row in rows)
