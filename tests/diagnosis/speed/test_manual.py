"""The manual page of the profile."""

import re

from steptime.diagnosis.speed.manual import profile_markdown
from steptime.diagnosis.speed.rules import RULES

PAGE = profile_markdown(RULES)


def test_every_finding_s_link_leads_to_a_section() -> None:
    anchors = re.findall(r'<a id="([\w-]+)"></a>', PAGE)

    assert anchors == sorted(rule.kind for rule in RULES)
    assert all(f"\n### {kind}\n" in PAGE for kind in anchors)


def test_no_fact_is_left_in_braces() -> None:
    assert re.findall(r"\{\w+\}", PAGE) == []


def test_what_was_never_run_on_a_gpu_is_listed() -> None:
    section = PAGE.partition("## What was never run on a GPU")[2].partition("## Findings")[0]

    assert "`small-launches`" in section
    assert "`pageable-copies`" in section
    assert "`map-sequential`" not in section
