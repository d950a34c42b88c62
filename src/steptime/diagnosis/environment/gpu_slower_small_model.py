"""The GPU works, but is no faster than the CPU for this model."""

from steptime.diagnosis.condition import Says
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="gpu-slower-small-model",
    title="The GPU works but is slower than the CPU for so small a model.",
    cause=(
        "Starting kernels and copying data cost more than the calculation: tiny layers, small "
        "batches, recurrent layers without cuDNN."
    ),
    remedies=(
        Remedy(
            (
                (
                    "# larger batches; model.compile(steps_per_execution=32, jit_compile=True); data in GPU "
                    "memory or tf.data with cache and prefetch"
                ),
                "steptime compare   # measures CPU against GPU, with Keras' loop and with ours",
                "# or use the CPU: it is the right device here",
            )
        ),
    ),
    verify="steptime compare",
    clues=(
        Clue(
            2.3,
            Says(
                r"gpu.{0,80}slower",
                r"slower.{0,40}(on|with) (the |a )?gpu",
                r"cpu.{0,60}faster than.{0,20}gpu",
                r"gpu.{0,60}(no|not|isn't|is not) (any )?(faster|speed)",
                r"(same|similar) (speed|time).{0,60}(cpu|gpu)",
                r"faster on (the )?cpu",
                r"gpu: ?\d{1,4}(\.\d{1,3})? ?s.{0,60}cpu: ?\d{1,4}(\.\d{1,3})? ?s",
                r"cpu: ?\d{1,4}(\.\d{1,3})? ?s.{0,60}gpu: ?\d{1,4}(\.\d{1,3})? ?s",
                r"gpu.{0,60}(slow|worse) (than|compared).{0,20}cpu",
                r"m1.{0,60}slower",
                r"(runs?|faster|quicker).{0,24}on (the )?cpu (than|compared|vs)",
                r"cpu.{0,30}(beats|wins|outperforms).{0,20}gpu",
                r"gpu.{0,40}(takes|needs|took).{0,20}longer",
                r"no (speed.?up|improvement|gain).{0,30}gpu",
                r"gpu.{0,60}(times|x) slower",
            ),
        ),
        Clue(2.0, Says(r"utili[sz]ation.{0,20}(about|around|only|~|below|<)? ?[0-9] ?%")),
        Clue(
            0.8,
            Says(
                r"(tiny|small|little|shallow|simple) (dense )?(layers?|models?|networks?|nets?|batch(es)?|data ?sets?)"
            ),
        ),
        Clue(0.4, Says(r"mnist", r"batch_?size ?= ?(1|8|16|32|64)(?!\d)")),
    ),
    commonness=3,
    slow=True,
    unless=(Says(r"recurrent_dropout"),),
    decide="Does the GPU win with a batch 16 times as large?",
    fires=(Case(log="Training MNIST on the GPU is slower than on the CPU: 12 s against 7 s for one epoch"),),
    silent=(Case(log="ResNet50 on GPU: 300 images/s, on CPU 12 images/s"),),
)
