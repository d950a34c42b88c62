"""The training step is not compiled with XLA on a GPU."""

from steptime.diagnosis.condition import All, Check, is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="xla-off",
    title="XLA does not compile the training step.",
    cause="XLA joins the ops of a step into few kernels: fewer launches, and fewer trips to memory.",
    # On a CPU XLA loses as often as it wins; there the elementwise chain has a rule of its own.
    applies=is_("device", "gpu"),
    when=All(
        is_("xla", False),
        Check("layers_without_xla", test=lambda names: not names),
    ),
    saving=Saving(
        names=("host_s", "memory_s"),
        calculate=lambda host_s, memory_s: host_s + memory_s,
        how="what joined ops could save: launches ({host_s}) and trips to memory ({memory_s})",
    ),
    ways=(
        # That loop needs data that lie on the device; with others Keras' own loop would train.
        Way(
            patch={"loop": "xla"},
            where=All(is_("source", "arrays"), is_("loop_asked", "graph", "keras")),
        ),
        Way(patch={"xla": "on"}, where=is_("compiled_by", "settings")),
        Way(lines=("model.compile(..., jit_compile=True)",)),
    ),
    clear="XLA compiles the training step, or the run is on a CPU, where it seldom helps.",
    fires=(
        {
            "xla": False,
            "device": "gpu",
            "layers_without_xla": (),
            "host_s": 0.002,
            "memory_s": 0.003,
            "step_s": 0.008,
            "loop_asked": "graph",
            "source": "arrays",
        },
    ),
    silent=(
        {
            "xla": True,
            "device": "gpu",
            "layers_without_xla": (),
            "host_s": 0.002,
            "memory_s": 0.003,
            "step_s": 0.008,
        },
        {
            "xla": False,
            "device": "cpu",
            "layers_without_xla": (),
            "host_s": 0.002,
            "memory_s": 0.003,
            "step_s": 0.008,
        },
    ),
)
