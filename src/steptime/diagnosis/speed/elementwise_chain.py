"""Much of a step goes through memory, op by op."""

from steptime.diagnosis.condition import All, Check, is_, more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="elementwise-chain",
    title="{elementwise_ops} element-wise ops take {elementwise_s} of a step: each reads and writes all of its data.",
    cause=(
        "An element-wise op computes little and moves much: it is as fast as memory. In a chain of them every op "
        "carries the same tensor to memory and back, which one fused loop would do once."
    ),
    when=All(
        is_("xla", False),
        more("elementwise_ops", 3),
        Check("elementwise_s", "step_s", test=lambda part, whole: part > 0.3 * whole),
    ),
    saving=Saving(
        names=("elementwise_s", "elementwise_ops"),
        calculate=lambda part, ops: part * (1 - 1 / ops),
        how="{elementwise_s} of a step, but for one trip through memory of {elementwise_ops}; from the trace",
    ),
    ways=(
        # That loop needs data that lie on the device; with others Keras' own loop would train.
        Way(
            patch={"loop": "xla"},
            lines=("# or keras.Model.compile(jit_compile=True)",),
            where=is_("source", "arrays"),
        ),
        Way(patch={"xla": "on"}, where=is_("compiled_by", "settings")),
        Way(lines=("model.compile(..., jit_compile=True)",)),
    ),
    clear="Element-wise ops do not dominate the step, or XLA joins them.",
    explains=("xla-off", "batch-below-saturation"),
    source="S. Williams, A. Waterman, D. Patterson: Roofline, Communications of the ACM 52 (2009)",
    fires=(
        {"source": "arrays", "xla": False, "elementwise_ops": 40, "elementwise_s": 0.008, "step_s": 0.01},
        {
            "source": "dataset",
            "compiled_by": "settings",
            "xla": False,
            "elementwise_ops": 40,
            "elementwise_s": 0.008,
            "step_s": 0.01,
        },
    ),
    silent=(
        {"xla": True, "elementwise_ops": 40, "elementwise_s": 0.008, "step_s": 0.01},
        {"xla": False, "elementwise_ops": 40, "elementwise_s": 0.002, "step_s": 0.01},
        {"xla": False, "elementwise_ops": 2, "elementwise_s": 0.008, "step_s": 0.01},
    ),
)
