import json
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.tensorflow

SCRIPT = textwrap.dedent("""
    import json
    import tensorflow as tf
    from steptime.environment import proof

    answers = {"good": proof.run_proof("/CPU:0", size=64), "absent": proof.run_proof("/GPU:7", size=64)}
    right = proof._product
    calls = []

    def wrong(tf):
        calls.append(1)
        return right(tf) + (0.5 if len(calls) == 1 else 0.0)

    proof._product = wrong
    answers["wrong"] = proof.run_proof("/CPU:0", size=64)
    print(json.dumps(answers))
""")


@pytest.fixture(scope="module")
def answers():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_a_device_that_calculates_passes_with_a_rate(answers):
    assert answers["good"]["proof"] == "ok"
    assert answers["good"]["proof_matmul_tflops"] is not None


def test_a_device_that_is_absent_fails_and_nothing_falls_back_to_the_cpu(answers):
    assert answers["absent"]["proof"].startswith("matrix product: ")
    assert answers["absent"]["proof_matmul_tflops"] is None


def test_a_device_that_calculates_wrongly_fails(answers):
    assert "differs from the CPU" in answers["wrong"]["proof"]
