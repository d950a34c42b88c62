"""The choice is asked and told; no TensorFlow, no clock."""

from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import given, settings

from steptime.engine.choice import Choice
from steptime.engine.prior import Measured, Prior

KERAS = Prior(loop="keras")
GRAPH = Prior(loop="graph", over="keras", saved_s=0.6e-3, compile_share=0.4, likely=True, margin_share=-0.1)
XLA = Prior(loop="xla", over="graph", step_share=0.4, compile_share=8.0, likely=True)


def simulate(choice, total_steps, step_s, compile_s, limit=None):
    """Runs a whole fit in imagination; returns the seconds it took and the loop of every step."""
    seconds, ran, ready = 0.0, [], set()
    while len(ran) < total_steps:
        following = choice.next(total_steps - len(ran))
        steps = following.steps or total_steps
        if following.loop not in ready:
            ready.add(following.loop)
            steps = 1
            choice.tell_compiled(following.loop, compile_s[following.loop])
            seconds += compile_s[following.loop]
        else:
            steps = min(steps, total_steps - len(ran), limit or total_steps)
            choice.tell(following.loop, steps, steps * step_s[following.loop])
            seconds += steps * step_s[following.loop]
        ran += [following.loop] * steps
    return seconds, ran


def test_a_long_fit_of_a_small_model_ends_in_the_fastest_loop():
    choice = Choice([KERAS, GRAPH, XLA], total_steps=20_000)
    _, ran = simulate(
        choice,
        20_000,
        {"keras": 3e-3, "graph": 0.5e-3, "xla": 0.15e-3},
        {"keras": 0.3, "graph": 0.2, "xla": 2.0},
    )
    assert choice.settled == "xla"
    assert ran.count("keras") < 200
    assert "xla: 0.15 ms a step against keras 3 ms, graph 0.5 ms" in choice.reason


def test_a_fit_of_a_few_steps_pays_for_no_compilation():
    choice = Choice([KERAS, GRAPH, XLA], total_steps=20)
    _, ran = simulate(choice, 20, {"keras": 3e-3}, {"keras": 0.3})
    assert set(ran) == {"keras"}
    assert choice.reason.endswith("graph, xla not tried: too few steps to repay compiling")
    assert "about 0.12 s to compile" in choice.skipped["graph"]


def test_a_candidate_that_turns_out_slower_is_left_again():
    choice = Choice([KERAS, GRAPH, XLA], total_steps=20_000)
    simulate(
        choice,
        20_000,
        {"keras": 3e-3, "graph": 0.5e-3, "xla": 4e-3},
        {"keras": 0.3, "graph": 0.2, "xla": 2.0},
    )
    assert choice.settled == "graph"


def test_graph_is_kept_when_it_is_as_fast_as_keras_within_noise():
    choice = Choice([KERAS, GRAPH], total_steps=10_000)
    simulate(choice, 10_000, {"keras": 3e-3, "graph": 3.1e-3}, {"keras": 0.1, "graph": 0.1})
    assert choice.settled == "graph"


def test_a_dropped_candidate_is_never_run_again():
    choice = Choice([KERAS, GRAPH], total_steps=10_000)
    while choice.next(10_000).loop == "keras":
        choice.tell_compiled("keras", 0.1)
        choice.tell("keras", 20, 20 * 3e-3)
    choice.drop("graph", "failed: ResourceExhaustedError")
    assert choice.next(9_000).loop == "keras"
    assert choice.settled == "keras"
    assert choice.dropped == {"graph": "failed: ResourceExhaustedError"}


def test_an_impossible_candidate_is_named_with_its_reason():
    xla = replace(XLA, impossible="layer lookup (StringLookup) does not support XLA")
    choice = Choice([KERAS, GRAPH, xla], total_steps=10)
    simulate(choice, 10, {"keras": 1e-3}, {"keras": 0.1})
    assert "xla layer lookup (StringLookup) does not support XLA" in choice.reason


def test_the_loop_that_was_asked_for_runs_from_the_first_step():
    choice = Choice([XLA, KERAS], total_steps=10, asked=True)
    assert choice.next(10).loop == "xla"
    assert choice.reason == "xla, as asked"


def test_if_the_loop_that_was_asked_for_is_impossible_keras_runs_and_the_reason_is_given():
    choice = Choice([replace(XLA, impossible="the data contain strings"), KERAS], total_steps=10, asked=True)
    assert choice.next(10).loop == "keras"
    assert choice.reason == "keras: xla cannot be run: the data contain strings"


def test_what_an_earlier_fit_measured_is_not_measured_again():
    remembered = {
        "keras": Measured(step_s=3e-3, compile_s=0.3),
        "graph": Measured(step_s=0.5e-3, compile_s=0.2),
    }
    choice = Choice([KERAS, GRAPH], total_steps=50, remembered=remembered)
    assert choice.next(50).loop == "graph"
    assert choice.settled == "graph"


def test_an_unknown_number_of_steps_still_ends_in_a_choice():
    choice = Choice([KERAS, GRAPH], total_steps=None)
    for _ in range(100):
        following = choice.next(None)
        if choice.settled:
            break
        choice.tell_compiled(following.loop, 0.01)
        choice.tell(following.loop, following.steps, following.steps * 2e-3)
    assert choice.settled is not None


times = st.floats(min_value=1e-5, max_value=1.0)


@settings(deadline=None)
@given(
    total=st.integers(1, 3000),
    keras_s=times,
    graph_share=st.floats(0.1, 1.5),
    xla_share=st.floats(0.05, 8.0),
    first_s=st.floats(0.01, 5.0),
)
def test_a_call_whose_candidates_cost_what_was_expected_loses_little_to_keras(
    total, keras_s, graph_share, xla_share, first_s
):
    """Whatever the step times are: compile times as expected, and no candidate counted as certain."""
    graph, xla = replace(GRAPH, likely=False), replace(XLA, likely=False)
    step_s = {"keras": keras_s, "graph": keras_s * graph_share, "xla": keras_s * graph_share * xla_share}
    compile_s = {"keras": first_s, "graph": 0.4 * first_s, "xla": 8.0 * first_s}
    choice = Choice([KERAS, graph, xla], total_steps=total)
    seconds, ran = simulate(choice, total, step_s, compile_s)
    stock_s = first_s + (total - 1) * keras_s
    trial_s = sum(choice.trial_steps(loop) * max(step_s[loop] - keras_s, 0.0) for loop in set(ran))
    noise_s = 0.1 * total * keras_s  # graph may stay although it is up to 10 % slower
    assert seconds <= 1.05 * stock_s + trial_s + noise_s + keras_s * len(set(ran))


@given(total=st.integers(1, 10_000), pieces=st.integers(1, 7))
def test_the_length_of_a_trial_depends_on_the_plan_alone(total, pieces):
    lengths = []
    for speed in (1e-4, 1e-1):
        choice = Choice([KERAS, GRAPH], total_steps=total)
        _, ran = simulate(
            choice,
            min(total, 20),
            {"keras": speed, "graph": speed},
            {"keras": 1e-6, "graph": 1e-6},
            limit=pieces,
        )
        lengths.append(choice.trial_steps("keras"))
        assert ran[: min(total, lengths[-1] + 1)] == ["keras"] * min(total, lengths[-1] + 1)
    assert lengths[0] == lengths[1]
