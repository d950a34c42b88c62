"""The machines of one training are not alike."""

from steptime.diagnosis.condition import Check, is_
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="workers-differ",
    title="The machines of the training differ in what must be alike.",
    cause=(
        "Another version may compute or exchange something else: workers then stop with an error, wait for each "
        "other, or train apart without a word. With other GPUs all wait for the slowest."
    ),
    remedies=(
        Remedy(
            (
                "pip freeze > packages.txt   # on the machine that is right",
                "pip install -r packages.txt   # on the others; or one container image for all",
            )
        ),
    ),
    verify="steptime doctor --save here.json   # on each machine, then: steptime doctor --workers FILE FILE",
    clues=(Clue(3, Check("workers_differ", test=lambda found: found != "none")),),
    commonness=1,
    clear=("The machines agree in versions, GPUs and drivers.", is_("workers_differ", "none")),
    fires=(Case(stated=("workers_differ=keras: 3.15.1 (a.json), 3.14.0 (b.json)",)),),
    silent=(Case(stated=("workers_differ=none",)),),
)
