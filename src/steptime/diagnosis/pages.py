"""What the doctor says: as text, as JSON, and as the manual page that its links point into."""

import json
from collections import defaultdict
from collections.abc import Iterable

from steptime.diagnosis.environment.commands import LIST_GPUS
from steptime.diagnosis.environment.places import NAMES
from steptime.diagnosis.rule import Diagnosis, Finding, Remedy, Rule
from steptime.environment.facts import Facts


def doctor_json(diagnosis: Diagnosis) -> str:
    """Return a diagnosis as one JSON object; ``findings`` holds the best one first."""
    body = {
        "findings": [
            {
                "kind": f.kind, "title": f.title, "evidence": list(f.evidence), "cause": f.cause, "fix": list(f.fix),
                "verify": f.verify,
                "confidence": f.confidence, "slow": f.slow, "link": f.link, "score": f.score,
            }
            for f in diagnosis.findings
        ],
        "tied": [{"kind": kind, "decide": diagnosis.decide[kind]} for kind in diagnosis.tied],
        "harmless": [dict(line) for line in diagnosis.harmless],
        "fine": [dict(check) for check in diagnosis.fine],
        "unchecked": [dict(check) for check in diagnosis.unchecked],
    }  # fmt: skip
    return json.dumps(body, indent=2, ensure_ascii=False)


def doctor_text(diagnosis: Diagnosis, facts: Facts, *, live: bool) -> str:
    """Return a diagnosis as plain text.

    Args:
        diagnosis: What was found.
        facts: The facts it rests on.
        live: Whether the facts are those of this machine, now.
    """
    lines = [_verdict(diagnosis, facts, live=live), ""]
    for position, finding in enumerate(diagnosis.findings):
        lines += _finding(finding, "Found" if position == 0 else "Also found")
    if diagnosis.tied:
        lines += ["These kinds show the same signs. What decides between them:"]
        lines += [f"  {kind}: {diagnosis.decide[kind]}" for kind in diagnosis.tied]
        lines += [""]
    lines += _section(
        "Harmless lines, which need no action:",
        (f"{h['evidence'][:160]}\n      {h['why']}" for h in diagnosis.harmless),
    )
    lines += _section("Checked and fine:", (check["what"] for check in diagnosis.fine)) if live else []
    lines += _section("Not checked, and why:", _grouped(diagnosis)) if live else []
    return "\n".join(lines).rstrip() + "\n"


def _verdict(diagnosis: Diagnosis, facts: Facts, *, live: bool) -> str:
    faults = [finding for finding in diagnosis.findings if not finding.slow]
    if faults:
        things = "1 thing" if len(faults) == 1 else f"{len(faults)} things"
        return f"{things} to repair; the first is most likely the cause of all trouble."
    if not live:
        return (
            "No fault that the doctor knows."
            if not diagnosis.findings
            else "The machine can be used, but slower than it could be."
        )
    if facts.get("proof") == "ok":
        rate, peak = facts.get("proof_matmul_tflops"), facts.get("proof_peak_tflops")
        beside = f" of {peak} (data sheet)" if peak else ""
        return f"The GPU works: {facts.text('gpu')}; fp32 matrix product {rate}{beside} TFLOP/s."
    if facts.get("gpu_vendor") == "none":
        return f"Training runs on the CPU ({facts.text('cpu_usable')} threads): this machine shows no NVIDIA GPU."
    return "No fault was found; whether a GPU calculates was not checked."


def _finding(finding: Finding, word: str) -> list[str]:
    lines = [f"{word}: {finding.title}  [{finding.kind}; {finding.confidence} confidence]"]
    lines += [f"  evidence  {line}" for line in finding.evidence[:3]]
    lines += [f"  cause     {finding.cause}", "  fix"]
    lines += [f"    {step}" for step in finding.fix]
    return [*lines, f"  check     {finding.verify}", f"  more      {finding.link}", ""]


def _section(title: str, items: Iterable[str]) -> list[str]:
    shown = [f"  - {item}" for item in dict.fromkeys(items)]
    return [title, *shown, ""] if shown else []


def _grouped(diagnosis: Diagnosis) -> Iterable[str]:
    """One line for each reason, with the kinds that it leaves open."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for check in diagnosis.unchecked:
        kinds[check["why"]].append(check["kind"])
    return (f"{reason}: {', '.join(names)}" for reason, names in kinds.items())


def doctor_markdown(rules: Iterable[Rule]) -> str:
    """Return the manual page of the doctor: one section a kind, in the rules' order.

    Args:
        rules: The rules, as ``diagnosis.environment.rules.RULES`` has them.
    """
    every = sorted(rules, key=lambda rule: (rule.harmless, rule.slow, rule.kind))
    lines = [
        "# Is my GPU really used, and if not, why?",
        "",
        "<!-- Made from the rules by scripts/docs: edit src/steptime/diagnosis/environment instead. -->",
        "",
        "`steptime doctor` reads this machine; `steptime doctor --log FILE` reads a log (`-` is standard input), and",
        (
            "`--fact KEY=VALUE` adds what you know, in your own words: platform, tensorflow, python, gpu,"
            " driver, cuda, or anything else."
        ),
        "`--save FILE` writes what was read, without personal data; `--facts FILE` diagnoses such a file elsewhere.",
        "It ends with 0 when training can use what the machine has, and with 1 with a finding. A finding that only",
        "makes training slower leaves it at 0 for this machine, and gives 1 for a log.",
        "",
        f"The shortest check of all is `{LIST_GPUS}`;",
        "but a GPU that is listed has not calculated anything yet. The doctor runs a matrix product, a convolution",
        "with gradient and a compiled step on it, and compares them with the CPU.",
        "",
    ]
    for rule in every:
        lines += _manual_section(rule)
    return "\n".join(lines).rstrip() + "\n"


def _manual_section(rule: Rule) -> list[str]:
    lines = [f'<a id="{rule.kind}"></a>', "", f"## {rule.kind}", "", f"**{rule.title}**", "", rule.cause, ""]
    if rule.harmless:
        return [*lines, "Nothing needs to be done.", ""]
    for remedy in rule.remedies:
        lines += [f"{_place(remedy)}:", ""] if len(rule.remedies) > 1 else []
        lines += ["```sh", *remedy.steps, "```", ""]
    lines += [f"Check: `{rule.verify}`", ""]
    decide = rule.decide if rule.decide.endswith("?") else f"`{rule.decide}`"
    return [*lines, f"What tells it from similar kinds: {decide}", ""] if rule.decide else lines


def _place(remedy: Remedy) -> str:
    if remedy.where is None:
        return "Everywhere else"
    return next(name for place, name in NAMES if place is remedy.where)
