"""An LSTM or GRU layer falls back from cuDNN's kernel."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="rnn-not-cudnn",
    title="An LSTM or GRU layer can't use cuDNN's fast kernel.",
    cause=(
        "recurrent_dropout, an activation other than tanh (or a recurrent one other than sigmoid), "
        "unroll, no bias, or unusual masking exclude cuDNN; the generic kernel is many times slower."
    ),
    remedies=(
        Remedy(
            (
                (
                    "# keep the defaults: activation='tanh', recurrent_activation='sigmoid', recurrent_dropout=0,"
                    " unroll=False, use_bias=True"
                ),
            )
        ),
    ),
    verify="# the warning 'will not use cuDNN kernels' must be gone",
    clues=(
        Clue(
            3,
            Says(
                r"will not use cudnn kernels? since it doesn.{1,3}t meet", r"generic gpu kernel as fallback"
            ),
        ),
        Clue(
            2.6,
            Says(
                r"recurrent_dropout ?=? ?0?\.\d",
                (
                    r"(lstm|gru)\(.{0,120}(recurrent_dropout=(?!0[,)]|0\.0)|unroll=true|activation=.?(relu|elu|"
                    r"selu|linear|sigmoid))"
                ),
            ),
        ),
        Clue(2.1, Says(r"(lstm|gru).{0,120}(cudnn|slow).{0,80}(fallback|not used|slower|criteria)")),
    ),
    commonness=2,
    slow=True,
    consequences=("gpu-slower-small-model",),
    decide="Is it fast with recurrent_dropout=0 and the default activations?",
    fires=(
        Case(
            log=(
                "WARNING:tensorflow:Layer lstm will not use cuDNN kernels since it doesn't meet the "
                "criteria. It will use a generic GPU kernel as fallback when running on GPU."
            )
        ),
    ),
    silent=(Case(log="model.add(layers.LSTM(128))"),),
)
