from steptime.diagnosis.condition import All, Check, Says, is_
from steptime.diagnosis.environment import diagnose, why_no_gpu
from steptime.diagnosis.evaluate import evaluate
from steptime.diagnosis.rule import Clue, Remedy, Rule
from steptime.environment.facts import Facts, known, merge
from steptime.environment.told import read_told


def rule(kind: str, *clues: Clue, **more) -> Rule:
    fields = {
        "title": f"{kind}.", "cause": "because", "remedies": (Remedy(("do this",)),), "verify": "look", "commonness": 1,
        "decide": f"is it {kind}?",
    }  # fmt: skip
    return Rule(kind=kind, clues=clues, **(fields | more))


def kinds(diagnosis) -> list[str]:
    return [finding.kind for finding in diagnosis.findings]


def test_the_heavier_evidence_comes_first():
    rules = [rule("a", Clue(2, Says("alpha"))), rule("b", Clue(3, Says("beta")))]
    assert kinds(evaluate(rules, Facts(), ["beta", "alpha"])) == ["b", "a"]


def test_the_first_error_wins_over_a_later_one_of_the_same_weight():
    rules = [rule("late", Clue(2, Says("late"))), rule("early", Clue(2, Says("early")))]
    assert kinds(evaluate(rules, Facts(), ["early", "late"])) == ["early", "late"]


def test_two_signs_of_the_same_trouble_are_not_twice_as_sure():
    once = evaluate([rule("a", Clue(2.5, Says("alpha")), Clue(2, Says("beta")))], Facts(), ["alpha"])
    twice = evaluate([rule("a", Clue(2.5, Says("alpha")), Clue(2, Says("beta")))], Facts(), ["alpha", "beta"])
    assert once.findings[0].score == twice.findings[0].score


def test_a_consequence_is_not_reported_beside_its_cause():
    rules = [
        rule("cause", Clue(3, Says("version mismatch")), consequences=("effect",)),
        rule("effect", Clue(2.5, Says("library not found"))),
    ]
    assert kinds(evaluate(rules, Facts(), ["version mismatch", "library not found"])) == ["cause"]
    assert kinds(evaluate(rules, Facts(), ["library not found"])) == ["effect"]


def test_kinds_with_the_same_line_and_no_fact_are_a_tie_with_what_decides():
    rules = [
        rule("often", Clue(2, Says("no device")), commonness=3),
        rule("seldom", Clue(2, Says("no device")), commonness=0),
        rule("other", Clue(2, Says("something else"))),
    ]
    diagnosis = evaluate(rules, Facts(), ["no device", "something else"])
    assert diagnosis.tied == ("often", "seldom")
    assert diagnosis.decide["seldom"] == "is it seldom?"
    assert diagnosis.findings[0].confidence == "low"


def test_a_fact_breaks_the_tie():
    rules = [
        rule("often", Clue(2, Says("no device")), commonness=3),
        rule(
            "in-container",
            Clue(2.8, All(Says("no device"), is_("container", "docker"))),
            consequences=("often",),
        ),
    ]
    assert kinds(evaluate(rules, known({"container": "docker"}, "stated"), ["no device"])) == ["in-container"]


def test_a_missing_fact_means_not_checked_and_never_fine():
    needs = rule("a", Clue(3, is_("nouveau", True)), clear=("nouveau is not loaded.", is_("nouveau", False)))
    unknown = evaluate([needs], Facts(unknown={"nouveau": "/proc can't be read"}))
    assert not unknown.fine
    assert unknown.unchecked == ({"kind": "a", "why": "/proc can't be read"},)
    clear = evaluate([needs], known({"nouveau": False}, "read here"))
    assert clear.fine == ({"kind": "a", "what": "nouveau is not loaded."},)
    assert not clear.unchecked


def test_harmless_lines_are_named_and_taken_away_before_other_rules_look():
    rules = [
        rule("noise", Clue(3, Says("could not find tensorrt")), harmless=True),
        rule("fault", Clue(3, Says("could not find"))),
    ]
    diagnosis = evaluate(rules, Facts(), ["Could not find TensorRT"])
    assert not diagnosis.findings
    assert diagnosis.harmless[0]["evidence"] == "Could not find TensorRT"


def test_the_remedy_fits_the_platform():
    two = rule(
        "a",
        Clue(3, Says("alpha")),
        remedies=(Remedy(("windows way",), is_("os", "windows")), Remedy(("linux way",))),
    )
    assert evaluate([two], known({"os": "windows"}, "stated"), ["alpha"]).findings[0].fix == ("windows way",)
    assert evaluate([two], Facts(), ["alpha"]).findings[0].fix == ("linux way",)


def test_what_only_slows_down_stands_behind_what_fails():
    rules = [rule("slow", Clue(3, Says("alpha")), slow=True), rule("fault", Clue(2, Says("beta")))]
    assert kinds(evaluate(rules, Facts(), ["alpha", "beta"])) == ["fault", "slow"]


def test_a_test_that_can_not_say_leaves_the_kind_open():
    open_rule = rule("a", Clue(3, Check("tensorflow", test=lambda _: None)))
    diagnosis = evaluate([open_rule], known({"tensorflow": "nightly"}, "stated"))
    assert not diagnosis.findings
    assert diagnosis.unchecked


def test_facts_come_before_lines():
    line = "Could not find cuda drivers on your machine, GPU will not be used."
    assert kinds(
        diagnose(read_told([line], ["platform=linux", "gpu=RTX 3060", "tensorflow=2.18"]), [line])
    ) == ["cuda-libs-not-installed"]
    nothing = diagnose(read_told([line], ["platform=linux", "gpu=none"]), [line])
    assert not nothing.findings
    assert nothing.harmless[0]["kind"] == "harmless-no-gpu-on-machine"


def test_why_no_gpu_gives_one_line_for_the_reason_and_one_for_the_remedy():
    facts = known({"os": "windows", "wsl": False, "tensorflow": "2.18"}, "stated")
    reason, remedy = why_no_gpu(facts)
    assert "native Windows" in reason
    assert remedy.startswith("wsl --install")
    assert "\n" not in reason + remedy


def test_why_no_gpu_says_so_when_there_is_no_gpu_at_all():
    reason, remedy = why_no_gpu(known({"gpu_vendor": "none"}, "read here"))
    assert "no NVIDIA GPU" in reason
    assert "--device cpu" in remedy


def test_why_no_gpu_is_silent_when_nothing_speaks_against_the_gpu():
    facts = merge(
        known({"gpu_vendor": "nvidia", "tensorflow_gpus": 1, "proof": "ok", "os": "linux"}, "read here")
    )
    assert why_no_gpu(facts) is None
