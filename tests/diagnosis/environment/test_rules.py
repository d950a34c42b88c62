import re
from pathlib import Path

import pytest

import steptime.diagnosis.environment as package
from steptime.diagnosis.condition import All, Any, Check, Condition, Not, Says, Unknown
from steptime.diagnosis.environment import diagnose
from steptime.diagnosis.environment.rules import RULES
from steptime.diagnosis.rule import FIRES, Case, Rule
from steptime.diagnosis.text import compile_sign
from steptime.environment.catalogue import FACTS
from steptime.environment.log import read_log
from steptime.environment.told import read_told

KINDS = """
blackwell-sm90a-ptx cudnn-version-mismatch docker-no-gpus-flag libdevice-not-found no-driver-loaded
pip-tensorflow-gpu-removed windows-native-no-gpu oom-held-by-other-process python-unsupported
and-cuda-libs-not-found cuda-libs-not-installed driver-library-mismatch container-lost-gpu
cudnn-handle-init-failed docker-toolkit-missing harmless-numa harmless-register-factory input-bound
keras2-vs-keras3 libcuda-missing numpy-abi oom-model-too-big windows-dll-load-failed
harmless-no-gpu-on-machine protobuf-mismatch wrong-cuda-major harmless-tensorrt uvm-device-missing
cc-too-old cuda-lib-not-found macos-metal-incompatible arm64-no-cuda-wheel driver-too-old
memory-growth-too-late amd-gpu-no-cuda-build colab-other-tf cpu-no-avx cuda-visible-devices
docker-image-cuda-mismatch ptxas-missing rnn-not-cudnn two-tf-packages windows-cuda-dll-missing
wsl2-gpu-blocked and-cuda-extra-unresolvable blackwell-xla-ptx-version cc-too-new-ptx-jit
conda-mixed-channels cuinit-unknown-after-suspend cupti-privileges gpu-slower-small-model
jupyter-other-kernel ld-library-path-conflict op-not-on-gpu harmless-delay-kernel
harmless-wsl-libcuda-symlink hpc-no-gpu-allocated directml-abandoned gpu-lost stub-libcuda
device-permissions glibc-too-old nccl-failure docker-cpu-image docker-driver-capabilities
forward-compat-unsupported harmless-ngc-banner keras-backend-not-tf nouveau-owns-gpu
secure-boot-module-unsigned singularity-no-nv wsl2-cuinit-no-device mig fabric-manager-missing
few-multiprocessors gpu-too-old-for-driver
""".split()
# A file is called after its kind, but for words that the house does not want in names of files.
OTHER_NAMES = {"fabric-manager-missing": "nvswitch_not_ready"}
NOT_RULES = {"__init__", "rules", "commands", "places", "signs"}


def conditions(rule: Rule) -> list[Condition]:
    found = [clue.condition for clue in rule.clues] + list(rule.unless)
    found += [remedy.where for remedy in rule.remedies if remedy.where is not None]
    return found + ([rule.clear[1]] if rule.clear else [])


def leaves(condition: Condition) -> list[Condition]:
    if isinstance(condition, All | Any):
        return [leaf for part in condition.parts for leaf in leaves(part)]
    return leaves(condition.part) if isinstance(condition, Not) else [condition]


def diagnosis_of(case: Case):
    lines = read_log(case.log.encode())
    return diagnose(read_told(lines, case.stated), lines)


def test_every_file_is_listed_once():
    files = {path.stem for path in Path(package.__file__).parent.glob("*.py")} - NOT_RULES
    assert sorted(files) == sorted(OTHER_NAMES.get(rule.kind, rule.kind.replace("-", "_")) for rule in RULES)


def test_all_kinds_of_the_field_have_a_rule():
    assert len(KINDS) == 76
    assert set(KINDS) <= {rule.kind for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_a_rule_is_complete(rule):
    assert rule.title.endswith((".", ": harmless.", ": expected."))
    assert rule.cause
    assert rule.verify
    assert rule.remedies
    assert rule.remedies[-1].where is None or len(rule.remedies) > 1
    assert rule.fires
    assert rule.silent
    assert 0 <= rule.commonness <= 3
    assert set(rule.consequences) <= {other.kind for other in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_a_rule_asks_only_for_facts_of_the_catalogue_and_only_with_signs_that_can_match(rule):
    for leaf in (leaf for condition in conditions(rule) for leaf in leaves(condition)):
        if isinstance(leaf, Says):
            assert all(compile_sign(pattern) for pattern in leaf.patterns)
        elif isinstance(leaf, Check):
            assert set(leaf.names) <= set(FACTS)
        elif isinstance(leaf, Unknown):
            assert leaf.name in FACTS


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_a_rule_can_fire(rule):
    assert sum(clue.weight for clue in rule.clues if clue.weight > 0) >= FIRES


@pytest.mark.parametrize(
    ("rule", "case"),
    [(rule, case) for rule in RULES for case in rule.fires],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_rule_comes_first_in_its_own_cases(rule, case):
    diagnosis = diagnosis_of(case)
    if rule.harmless:
        assert rule.kind in {line["kind"] for line in diagnosis.harmless}
        assert not diagnosis.findings
    else:
        assert [finding.kind for finding in diagnosis.findings][:1] == [rule.kind]


@pytest.mark.parametrize(
    ("rule", "case"),
    [(rule, case) for rule in RULES for case in rule.silent],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_rule_is_silent_in_cases_close_to_it(rule, case):
    diagnosis = diagnosis_of(case)
    assert rule.kind not in {finding.kind for finding in diagnosis.findings}
    assert rule.kind not in {line["kind"] for line in diagnosis.harmless}


def test_no_remedy_names_a_package_index():
    words = re.compile(r"pypi|anaconda\.org|pythonhosted", re.IGNORECASE)
    for rule in RULES:
        assert not words.search(
            rule.cause + "".join(step for remedy in rule.remedies for step in remedy.steps)
        )
