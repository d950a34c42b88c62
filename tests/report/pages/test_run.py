"""The page of one record."""

import dataclasses
from pathlib import Path

import pytest

from steptime.record.schema import DeviceUse, Epoch, Outcome, RunRecord
from steptime.report.pages.run import run_page, run_summary
from steptime.report.render.text import render_text
from steptime.testing import make_record

GOLDEN = Path(__file__).parents[2] / "golden"


def bare() -> RunRecord:
    """A record of a run of which next to nothing is known."""
    full = make_record()
    return RunRecord(
        schema_version=full.schema_version,
        steptime_version=full.steptime_version,
        run_id=full.run_id,
        created=full.created,
        plan=full.plan,
        outcome=Outcome(
            status="failed",
            phase="import",
            reason="the worker was ended by SIGSEGV in phase 'import'",
            hint="See worker.log",
            exit_code=3,
            log_tail=("first line", "last line"),
        ),
    )


def contradicting() -> RunRecord:
    """A record whose proof contradicts its plan and whose loss was NaN."""
    record = make_record()
    assert record.proof is not None
    proof = dataclasses.replace(
        record.proof,
        compute_ops={"CPU:0": 180, "CPU:1": 6},
        contradiction="compute ops ran outside CPU:0: 6 on CPU:1",
    )
    epoch = Epoch(epoch=0, logs={"loss": None}, steps=3, train_ns=10, validate_ns=None)
    return dataclasses.replace(record, proof=proof, epochs=(epoch,))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run_page", render_text(run_page(make_record()), 100)),
        ("run_summary", render_text(run_summary(make_record()), 100)),
        ("run_page_failed", render_text(run_page(bare()), 100)),
        ("run_page_contradiction", render_text(run_page(contradicting()), 100)),
    ],
)
def test_the_page_is_the_golden_one(name: str, text: str) -> None:
    assert text + "\n" == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_what_is_not_known_is_left_out_and_never_zero() -> None:
    text = render_text(run_page(bare()), 100)

    assert "0" not in text.replace(bare().run_id, "").replace(bare().created, "")


def test_the_devices_say_what_they_did_and_leave_out_what_is_not_known() -> None:
    unknown = dict.fromkeys(field.name for field in dataclasses.fields(DeviceUse))
    known = {
        "name": "cpu",
        "samples": 9,
        "utilisation_share": 0.95,
        "other_work_share": 0.4,
        "throttle_shares": {},
    }
    text = render_text(run_page(make_record(devices=(DeviceUse(**(unknown | known)),))), 100)

    assert "Devices during the training\n  cpu  busy 95.0 %, 40.0 % by others\n" in text


def test_the_page_says_what_checkpoints_cost() -> None:
    cost = {"written": 3, "bytes": 2 << 20, "stall_s": 0.05, "write_s": 0.2, "share": 0.001}
    page = render_text(run_page(make_record(execution={"reason": "graph", "checkpoints": cost})))

    assert "3 written, the last of 2.00 MiB; training stood still for 50.0 ms (0.1 %)" in page
    none = run_page(make_record(execution={"reason": "graph", "checkpoints": {**cost, "written": 0}}))
    assert "none was written" in render_text(none)
