"""TF_CONFIG does not say what TensorFlow expects."""

from steptime.diagnosis.condition import Check, is_
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="tf-config-broken",
    title="TF_CONFIG is set and cannot be used.",
    cause=(
        "TF_CONFIG tells each process of a training who the others are and which one it is itself. As it is, "
        "TensorFlow stops, or waits for processes that do not exist."
    ),
    remedies=(
        Remedy(
            (
                (
                    'export TF_CONFIG=\'{"cluster": {"worker": ["host1:2222", "host2:2222"]}, '
                    '"task": {"type": "worker", "index": 0}}\''
                ),
                "unset TF_CONFIG   # for a training on this machine alone",
            )
        ),
    ),
    verify='python -m json.tool <<< "$TF_CONFIG"',
    clues=(Clue(2.3, Check("tf_config", test=lambda state: state != "ok")),),
    commonness=1,
    clear=("TF_CONFIG is well formed.", is_("tf_config", "ok")),
    fires=(Case(stated=("tf_config=not JSON: Expecting value",)),),
    silent=(Case(stated=("tf_config=ok",)),),
)
