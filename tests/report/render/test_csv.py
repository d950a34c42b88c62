"""CSV: plain numbers, one row for each arm and quantity."""

import csv
import dataclasses
import io

import pytest

from steptime.plan.arm import Arm
from steptime.report.render.csv import COLUMNS, render_csv


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_each_quantity_of_each_arm_is_a_row_of_plain_numbers(compared) -> None:
    found = {(row["arm"], row["quantity"]): row for row in rows(render_csv(compared.comparison))}
    fast, slow = found["cpu", "step_s"], found["cpu loop=keras", "step_s"]

    assert float(fast["value"]) == pytest.approx(0.008, rel=0.05)
    assert float(fast["low"]) < float(fast["value"]) < float(fast["high"])
    assert float(fast["ratio"]) == pytest.approx(float(fast["value"]) / float(slow["value"]))
    assert (slow["verdict"], slow["ratio"]) == ("baseline", "")
    assert float(found["cpu", "final.val_accuracy"]["value"]) == pytest.approx(0.985, abs=0.001)


def test_what_is_unknown_is_empty_and_says_why(compared) -> None:
    found = {(row["arm"], row["quantity"]): row for row in rows(render_csv(compared.comparison))}

    assert found["cpu", "energy_j"]["value"] == ""
    assert found["cpu", "energy_j"]["reason"] == "no device was sampled"
    assert "out of memory" in found["cpu batch_size=60000", ""]["reason"]


def test_every_row_has_all_columns(compared) -> None:
    lines = list(csv.reader(io.StringIO(render_csv(compared.comparison))))

    assert {len(line) for line in lines} == {len(COLUMNS)}


def test_a_spreadsheet_takes_no_name_for_a_formula(compared) -> None:
    facts = dataclasses.replace(compared.comparison.arms[0], arm=Arm(name="=1+2", changes={"device": "cpu"}))
    text = render_csv(dataclasses.replace(compared.comparison, arms=(facts,)))

    assert rows(text)[0]["arm"] == "'=1+2"
