"""The notebook runs another Python than the terminal."""

from steptime.diagnosis.condition import Says, is_
from steptime.diagnosis.environment.places import WSL
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="jupyter-other-kernel",
    title="The notebook runs another Python than the terminal.",
    cause=(
        "The kernel belongs to another environment, or the notebook server was started without the "
        "shell's variables, so it imports another TensorFlow."
    ),
    remedies=(
        Remedy(
            (
                "python -m pip install ipykernel",
                (
                    "python -m ipykernel install --user --name tf   # in the environment that sees the GPU; then "
                    "choose the kernel tf"
                ),
                "jupyter lab   # inside WSL, not jupyter.exe of Windows",
            ),
            WSL,
        ),
        Remedy(
            (
                "python -m pip install ipykernel",
                (
                    "python -m ipykernel install --user --name tf   # in the environment that sees the GPU; then "
                    "choose the kernel tf in the notebook"
                ),
            )
        ),
    ),
    verify=(
        "import sys, tensorflow as tf; print(sys.executable, tf.config.list_physical_devices('GPU')) "
        "  # in the notebook"
    ),
    clues=(
        Clue(
            2.8,
            Says(
                (
                    r"(works?|seen|found|detected|listed|fine|ok) .{0,40}(in|from|on) .{0,20}(terminal|shell|"
                    r"command line|console|prompt|python script).{0,120}(notebook|jupyter|vs ?code|pycharm|spyder)"
                ),
                r"jupyter.{0,20}\.exe",
                (
                    r"(notebook|jupyter|kernel|vs ?code|pycharm|spyder).{0,100}(different|other|another|wrong) "
                    r"(python|kernel|environment|interpreter|env)"
                ),
                r"sys\.executable .{0,60}differ",
                r"(but )?not (in|from|inside) .{0,20}(jupyter|notebook|vs ?code|pycharm|spyder)",
                (
                    r"(jupyter|notebook|vs ?code|pycharm|spyder).{0,60}(no gpu|not|empty|\[\]|only cpu)"
                    r".{0,120}(terminal|shell|command line|console)"
                ),
                r"\[physicaldevice\(.{0,60}gpu.{0,300}(jupyter|notebook).{0,200}\[\]",
                r"ipykernel install",
                r"kernel ?spec",
                (
                    r"(terminal|shell|console|command line|python prompt|cmd).{0,60}(shows?|sees?|lists?|detects?|"
                    r"finds?|works?|gpu).{0,160}(jupyter|notebook|vs ?code|pycharm|spyder).{0,120}(not|no gpu|n.t|"
                    r"empty|\[\]|cpu|fail)"
                ),
                (
                    r"(jupyter|notebook|vs ?code|pycharm|spyder).{0,60}(does|do|can|is|are|will)?(n.t| not)( see| "
                    r"find| detect| list| use| show| work| recogni[sz]e).{0,160}(terminal|shell|console|command "
                    r"line|cmd|script)"
                ),
                r"different (gpu|results?|output|versions?).{0,60}(jupyter|notebook)",
                (
                    r"(another|different|other|wrong) (python|interpreter|environment|kernel).{0,30}(jupyter|"
                    r"notebook|kernel)"
                ),
                r"sys\.executable.{0,80}(another|differ|other|not the same)",
            ),
        ),
        Clue(0.4, is_("notebook", True)),
    ),
    commonness=2,
    decide="import sys; print(sys.executable)   # in the notebook and in the terminal: the same?",
    consequences=(
        "cuda-libs-not-installed",
        "windows-native-no-gpu",
        "and-cuda-libs-not-found",
        "conda-mixed-channels",
    ),
    fires=(Case(log="The GPU is listed in the terminal but not in Jupyter: []", stated=("platform=linux",)),),
    silent=(
        Case(
            log="jupyter lab\n[I 12:00:00 NotebookApp] Serving notebooks from local directory",
            stated=("platform=linux",),
        ),
    ),
)
