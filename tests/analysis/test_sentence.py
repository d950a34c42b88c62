import pytest

from steptime.analysis.interval import Interval
from steptime.analysis.sentence import verdict_sentence
from steptime.analysis.training import TrainingCheck
from steptime.analysis.verdict import Verdict


def verdict(kind, value=1.0, low=0.99, high=1.01, reasons=()):
    ratio = Interval(value=value, low=low, high=high, confidence=0.95, is_assumed=False)
    return Verdict(kind=kind, time_ratio=ratio, reasons=reasons, cautions=())


def check(quality, reason="trained worse: 0.94 against 0.98 (noise ±0.002)"):
    return TrainingCheck(quality=quality, difference=-0.04, reach=0.002, is_assumed=False, reason=reason)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (verdict("faster", 0.25, 0.2, 0.3125), "gpu is 4 times as fast as cpu (95 % interval 3.2 to 5)"),
        (verdict("slower", 2.0, 1.9, 2.1), "gpu takes 2 times as long as cpu (95 % interval 1.9 to 2.1)"),
        (
            verdict("faster", 0.9, 0.88, 0.92),
            "gpu is faster than cpu: a step takes 10.0 % less time (95 % interval 8.0 to 12.0 %)",
        ),
        (
            verdict("slower", 1.1, 1.05, 1.15),
            "gpu is slower than cpu: a step takes 10.0 % more time (95 % interval 5.0 to 15.0 %)",
        ),
        (verdict("same"), "gpu is as fast as cpu: any difference is below 3 %"),
        (
            verdict("cannot tell", reasons=("one thing", "another")),
            "whether gpu is faster than cpu cannot be told: one thing; another",
        ),
    ],
)
def test_each_verdict_has_its_sentence(found, sentence):
    assert verdict_sentence(found, arm="gpu", baseline="cpu") == sentence


def test_an_arm_that_trained_worse_is_marked_in_the_sentence_itself():
    found = verdict("faster", 0.25, 0.2, 0.3)
    better = check("better", "trained better: 0.1 against 0.2 (noise ±0.01)")
    sentence = verdict_sentence(
        found, arm="gpu", baseline="cpu", training=[better, check("equal"), check("worse")]
    )
    assert sentence.endswith(", but it trained worse: 0.94 against 0.98 (noise ±0.002)")
    assert verdict_sentence(found, arm="gpu", baseline="cpu", training=[better]).endswith(
        ", and it " + better.reason
    )
    assert "trained" not in verdict_sentence(found, arm="gpu", baseline="cpu", training=[check("equal")])
