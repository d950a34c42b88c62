"""A step is many tiny kernels, and starting them takes longer than running them."""

from steptime.diagnosis.condition import All, Check, is_
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
        Way(patch={"loop": "xla"}, where=is_("xla", False)),
        Way(
            patch={"batch_size": "{batch_size_next}"},
            changes_results=True,
            lines=("# fewer, larger steps train differently: look at the loss",),
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
        },
    ),
    silent=(
        {"device": "gpu", "launches": 20, "launch_s": 5e-6, "host_s": 0.0, "step_s": 0.003, "xla": False},
        {"device": "cpu", "launches": 400, "launch_s": 5e-6, "host_s": 0.002, "step_s": 0.003},
    ),
)
