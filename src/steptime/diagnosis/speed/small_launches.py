"""A step is many tiny kernels, and starting them takes longer than running them."""

from steptime.diagnosis.condition import All, Check, is_, more
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="small-launches",
    title="A step starts {launches} kernels; starting them alone takes a large part of it.",
    cause="Each kernel is started by the host, one after the other; tiny ones end before the next is started.",
    applies=is_("device", "gpu"),
    when=All(
        Check("launches", "launch_s", "step_s", test=lambda count, each, step: count * each > 0.3 * step),
    ),
    saving=Saving(
        names=("launches", "launch_s", "host_s"),
        calculate=lambda count, each, host_s: min(count * each, host_s),
        how="{launches} launches of {launch_s} each, measured on this machine, but no more than the device waits",
    ),
    ways=(
        # That loop needs data that lie on the device; with others Keras' own loop would train.
        Way(patch={"loop": "xla"}, where=All(is_("xla", False), is_("source", "arrays"))),
        Way(patch={"xla": "on"}, where=All(is_("xla", False), is_("compiled_by", "settings"))),
        Way(lines=("model.compile(..., jit_compile=True)",), where=is_("xla", False)),
        Way(
            patch={"batch_size": "{batch_size_next}"},
            changes_results=True,
            lines=("# fewer, larger steps train differently: look at the loss",),
            where=All(is_("source", "arrays"), more("batch_size_next", 0)),
        ),
        Way(
            changes_results=True,
            lines=("dataset.batch(n)  # larger; fewer, larger steps train differently: look at the loss",),
        ),
    ),
    clear="Starting kernels is a small part of a step.",
    explains=("xla-off",),
    fires=(
        {
            "device": "gpu",
            "launches": 400,
            "launch_s": 5e-6,
            "host_s": 0.002,
            "step_s": 0.003,
            "xla": False,
            "source": "arrays",
        },
    ),
    silent=(
        {"device": "gpu", "launches": 20, "launch_s": 5e-6, "host_s": 0.0, "step_s": 0.003, "xla": False},
        {"device": "cpu", "launches": 400, "launch_s": 5e-6, "host_s": 0.002, "step_s": 0.003},
    ),
)
