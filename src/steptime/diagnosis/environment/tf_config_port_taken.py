"""This task cannot listen where TF_CONFIG says."""

from steptime.diagnosis.condition import Check, is_
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="tf-config-port-taken",
    title="This process cannot listen at its own address in TF_CONFIG.",
    cause=(
        "The other processes expect this one there. The port is taken, often by a training that did not end, or the "
        "address belongs to another machine: index or host name are wrong."
    ),
    remedies=(
        Remedy(
            (
                "ss -ltnp   # who listens",
                "# end that process, choose another port on all machines, or mend task.index",
            )
        ),
    ),
    verify="steptime doctor",
    clues=(Clue(2.2, Check("tf_config_port", test=lambda state: state != "free")),),
    commonness=1,
    clear=("This task's port in TF_CONFIG is free.", is_("tf_config_port", "free")),
    fires=(Case(stated=("tf_config=ok", "tf_config_port=10.0.0.1:2222 is in use")),),
    silent=(Case(stated=("tf_config=ok", "tf_config_port=free")),),
)
