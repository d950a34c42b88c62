"""Recurrent layers that cuDNN's kernel can't execute."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(rnns: Sequence[Mapping[str, Any]], gpus: int) -> Iterator[Found]:
    for layer in rnns:
        if layer["why_not"]:
            yield Found(
                evidence=f"{layer['layer']} ({layer['class']}): {', '.join(layer['why_not'])}",
                severity="warning" if gpus else None,
            )


def _case(*why_not: str, gpus: int = 0, severity: str = "") -> Case:
    layer = {"layer": "lstm", "class": "LSTM", "why_not": list(why_not)}
    return Case(facts={"rnns": [layer], "gpus": gpus}, severity=severity)


LINT = Lint(
    kind="rnn-off-fast-path",
    title="A recurrent layer can't use cuDNN's kernel.",
    severity="hint",
    consequence=(
        "On a GPU the generic loop runs one small kernel after another for each time step, many times slower "
        "than cuDNN's; on a CPU both are the same. XLA or unroll=False does not bring the kernel back."
    ),
    fix=(
        "layers.LSTM(n)   # activation='tanh', recurrent_activation='sigmoid', recurrent_dropout=0, "
        "use_bias, no unroll"
    ),
    needs=("rnns", "gpus"),
    find=_find,
    fires=(_case("recurrent_dropout=0.2", gpus=1, severity="warning"), _case("activation=relu")),
    silent=(_case(gpus=1), _case(), Case(facts={"rnns": [], "gpus": 1})),
)
