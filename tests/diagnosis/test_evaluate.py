import pytest

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


GOOD_MACHINE = {
    "os": "linux", "arch": "x86_64", "wsl": False, "glibc": "2.39", "hosted": "none", "container": "none",
    "scheduler": "none", "cpu_avx": True,
    "cpu_usable": 16, "gpu_vendor": "nvidia", "gpu": ("NVIDIA H100 PCIe",), "gpu_count": 1, "gpu_cc": "9.0",
    "gpu_cc_max": "9.0",
    "gpu_on_pci": True, "driver": "570.133.20", "driver_cuda": "12.8", "kernel_module": "570.133.20",
    "libcuda": "570.133.20",
    "nouveau": False, "secure_boot": False, "smi_works": True, "nvml": "ok", "cuinit": "ok", "dev_nvidia": True,
    "dev_uvm": True,
    "dev_access": True, "mig": False, "compute_mode": "default", "pcie_narrow": "none", "throttle": "none",
    "gpu_others": (),
    "gpu_memory_free_share": 0.99, "gpus_hidden": False, "loader_path_stubs": False, "loader_path_cuda": "none",
    "python": "3.12.3",
    "python_bits": 64, "conda": False, "tensorflow": "2.21.0", "tensorflow_packages": ("tensorflow",),
    "tensorflow_build": "cuda",
    "tensorflow_cuda": "12.5.1", "tensorflow_state": "ok", "tensorflow_gpus": 1, "local_shadow": "none",
    "numpy": "2.4.6",
    "protobuf": "7.36.2", "cudnn_wheel": "9.28.0.42", "nvidia_wheels": ("nvidia-cuda-runtime-cu12 12.9.79",),
    "cudart": "wheel",
    "libs_missing": (), "ptxas": True, "libdevice": True, "bytecode_cached": True, "bytecode_writable": True,
    "bytecode_off": False,
    "proof": "ok",
}  # fmt: skip


def good_machine_but(**changes):
    return diagnose(known(GOOD_MACHINE | changes, "read here"))


def test_a_good_machine_has_no_finding_and_much_that_is_fine():
    diagnosis = good_machine_but()
    assert not diagnosis.findings
    assert len(diagnosis.fine) >= 25
    assert why_no_gpu(known(GOOD_MACHINE, "read here")) is None


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"gpus_hidden": True, "visible_devices": "-1", "cuinit": "cuda_error_no_device", "tensorflow_gpus": 0},
        "cuda-visible-devices"),
        ({"kernel_module": "none", "smi_works": False, "cuinit": "cuda_error_no_device"}, "no-driver-loaded"),
        ({"kernel_module": "none", "nouveau": True, "smi_works": False, "cuinit": "cuda_error_no_device"},
        "nouveau-owns-gpu"),
        ({"kernel_module": "none", "secure_boot": True, "smi_works": False}, "secure-boot-module-unsigned"),
        ({"kernel_module": "570.86.15", "nvml": "mismatch", "cuinit": "cuda_error_system_driver_mismatch"},
        "driver-library-mismatch"),
        ({"driver": "510.47.03", "kernel_module": "510.47.03", "libcuda": "510.47.03"}, "driver-too-old"),
        ({"dev_access": False, "cuinit": "cuda_error_no_device"}, "device-permissions"),
        ({"dev_uvm": False, "cuinit": "cuda_error_unknown"}, "uvm-device-missing"),
        ({"cudart": "missing", "nvidia_wheels": (), "libs_missing": ("libcudart.so.12",), "tensorflow_gpus": 0},
        "cuda-libs-not-installed"),
        ({"libs_missing": ("libcudnn.so.9",), "tensorflow_gpus": 0}, "and-cuda-libs-not-found"),
        ({"tensorflow_build": "cpu", "tensorflow_packages": ("tensorflow-cpu",), "tensorflow_gpus": 0},
        "tensorflow-cpu-build"),
        ({"tensorflow_packages": ("tensorflow", "tf-nightly")}, "two-tf-packages"),
        ({"gpu_cc": "5.2", "gpu_cc_max": "5.2", "gpu": ("GTX 980",)}, "cc-too-old"),
        ({"gpu_cc": "12.0", "gpu_cc_max": "12.0", "tensorflow": "2.20.0", "proof": "matrix product: x"},
        "blackwell-sm90a-ptx"),
        ({"gpu_others": ("process 7: 79000 MiB",), "gpu_memory_free_share": 0.02}, "oom-held-by-other-process"),
        ({"scheduler": "slurm", "job_gpus": False, "cuinit": "cuda_error_no_device"}, "hpc-no-gpu-allocated"),
        ({"container": "docker", "dev_nvidia": False, "libcuda": "missing", "smi_works": False}, "docker-no-gpus-flag"),
        ({"container": "docker", "libcuda": "missing", "driver_capabilities": "utility"}, "docker-driver-capabilities"),
        ({"wsl": True, "dev_dxg": False, "cuinit": "cuda_error_no_device", "kernel_module": "none"},
        "wsl2-cuinit-no-device"),
        ({"arch": "aarch64", "tensorflow_build": "cpu", "tensorflow_gpus": 0}, "arm64-no-cuda-wheel"),
        ({"proof": "convolution with gradient: differs from the CPU by 0.3 of the largest value"},
        "gpu-calculation-failed"),
        ({"throttle": "thermal"}, "gpu-throttled"),
        ({"pcie_narrow": "4 of 16 lanes"}, "pcie-link-narrow"),
        ({"compute_mode": "exclusive"}, "gpu-exclusive-mode"),
        ({"mig": True}, "mig"),
        ({"cpu_quota": 2.0}, "cpu-quota-below-threads"),
    ],
)  # fmt: skip
def test_one_fault_on_a_good_machine_is_found_first(changes, kind):
    assert kinds(good_machine_but(**changes))[:1] == [kind]
