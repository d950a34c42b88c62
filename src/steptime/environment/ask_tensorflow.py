"""Asks TensorFlow itself, in a process of its own that may crash. Run as a module; prints JSON.

    python -m steptime.environment.ask_tensorflow [DEVICE]

With a device, such as ``/CPU:0``, the calculations of ``proof`` run on it even if no GPU is listed.
"""

import json
import sys


def ask(device: str | None) -> dict[str, object]:
    """Import TensorFlow, list its GPUs and, on the first of them or on ``device``, run the proof."""
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    facts: dict[str, object] = {
        "tensorflow": tf.__version__,
        "tensorflow_gpus": len(gpus),
        "tensorflow_state": "ok",
    }
    build = tf.sysconfig.get_build_info()
    facts["tensorflow_build"] = (
        "cuda" if build.get("is_cuda_build") else "rocm" if build.get("is_rocm_build") else "cpu"
    )
    if gpus or device:
        _answer(facts)  # the proof may end this process: what is known so far must be out
        from steptime.environment.proof import SIZE, run_proof

        facts |= run_proof(device or "/GPU:0", size=512 if device else SIZE)
    return facts


def _answer(facts: dict[str, object]) -> None:
    sys.stdout.write("\n" + json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _answer(ask(sys.argv[1] if len(sys.argv) > 1 else None))
