import json
from pathlib import Path

from steptime.diagnosis.environment import diagnose
from steptime.diagnosis.environment.rules import RULES
from steptime.diagnosis.pages import doctor_json, doctor_markdown, doctor_text
from steptime.environment.facts import known
from steptime.environment.told import read_told

LINE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"


def test_json_has_all_promised_keys_and_ties_with_what_decides():
    body = json.loads(doctor_json(diagnose(read_told([LINE], ["platform=linux"]), [LINE])))
    assert set(body) == {"findings", "tied", "harmless", "fine", "unchecked"}
    assert {"kind", "evidence", "cause", "fix", "verify", "confidence", "link"} <= set(body["findings"][0])
    assert LINE in body["findings"][0]["evidence"]
    assert body["findings"][0]["link"] == f"docs/doctor.md#{body['findings'][0]['kind']}"
    assert len(body["tied"]) > 1
    assert all(tie["decide"] for tie in body["tied"])


def test_text_gives_the_cause_the_commands_and_the_check():
    facts = read_told([LINE], ["platform=wsl2"])
    text = doctor_text(diagnose(facts, [LINE]), facts, live=False)
    assert "wsl2-cuinit-no-device" in text
    assert "wsl --update; wsl --shutdown" in text
    assert "docs/doctor.md#wsl2-cuinit-no-device" in text


def test_text_sets_the_measured_rate_beside_the_data_sheet():
    facts = known(
        {
            "gpu_vendor": "nvidia",
            "gpu": ("Tesla V100-SXM2-16GB",),
            "proof": "ok",
            "proof_matmul_tflops": 14.2,
            "proof_peak_tflops": 15.7,
        },
        "read here",
    )
    assert "14.2 of 15.7 (data sheet) TFLOP/s" in doctor_text(diagnose(facts), facts, live=True)


def test_text_on_a_machine_without_gpu_says_that_the_cpu_is_used():
    facts = known({"gpu_vendor": "none", "cpu_usable": 2}, "read here")
    assert "this machine shows no NVIDIA GPU" in doctor_text(diagnose(facts), facts, live=True)


def test_the_manual_has_one_section_for_each_kind_and_is_fresh():
    manual = doctor_markdown(RULES)
    for rule in RULES:
        assert manual.count(f'<a id="{rule.kind}"></a>') == 1
    page = Path(__file__).parents[2] / "docs/doctor.md"
    assert page.read_text(encoding="utf-8") == manual, "run scripts/docs"
