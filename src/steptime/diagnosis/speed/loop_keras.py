"""Keras' stock loop was asked for where a faster one is at hand."""

from steptime.diagnosis.condition import All, is_
from steptime.diagnosis.speed.rule import Saving, SpeedRule, Way

RULE = SpeedRule(
    kind="loop-keras",
    title="Keras' own loop was asked for; it goes through Python at every step.",
    cause=(
        "At each step Keras' loop fetches a batch, starts a graph, reads the metrics and calls the callbacks. "
        "steptime's loops run many steps in one call and compute the same."
    ),
    when=All(is_("loop", "keras"), is_("loop_asked", "keras"), is_("eager", False)),
    saving=Saving(
        names=("host_s", "input_s"),
        calculate=lambda host_s, input_s: host_s + input_s,
        how="what a step spends in Python and dispatch ({host_s}) and in waiting for input ({input_s})",
    ),
    ways=(Way(patch={"loop": "auto"}, lines=("# in Python: steptime.fit(model, ...) for model.fit(...)",)),),
    clear="The loop was chosen by measurement, or it is one of the fast ones.",
    explains=("xla-off", "small-launches"),
    fires=(
        {
            "loop": "keras",
            "loop_asked": "keras",
            "eager": False,
            "host_s": 0.002,
            "input_s": 0.001,
            "step_s": 0.004,
        },
    ),
    silent=(
        {
            "loop": "graph",
            "loop_asked": "auto",
            "eager": False,
            "host_s": 0.002,
            "input_s": 0.0,
            "step_s": 0.004,
        },
        {
            "loop": "keras",
            "loop_asked": "auto",
            "eager": False,
            "host_s": 0.002,
            "input_s": 0.0,
            "step_s": 0.004,
        },
    ),
)
