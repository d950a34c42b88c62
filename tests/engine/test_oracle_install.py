"""``steptime.install()`` makes ``keras.Model.fit`` itself ours for a whole program, and ``uninstall()`` undoes it."""

from __future__ import annotations

import inspect
import re
import sys
import types

import pytest

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def stock():
    """Keras' own methods; whatever a test does, they are back afterwards."""
    import keras

    import steptime

    methods = {name: getattr(keras.Model, name) for name in ("fit", "evaluate", "predict")}
    yield methods
    steptime.uninstall()
    assert {name: getattr(keras.Model, name) for name in methods} == methods


def test_a_program_s_own_fit_is_trained_by_steptime(stock, classifier, samples, same):
    import keras

    import steptime

    def run():
        keras.utils.set_random_seed(4)
        model = classifier()
        history = model.fit(samples.x, samples.y, batch_size=8, epochs=2, shuffle=False, verbose=0)
        return history, [w.numpy() for w in model.weights], model.predict(samples.val_x, verbose=0)

    expected, weights, predicted = run()
    assert not hasattr(expected, "steptime")
    steptime.install()
    history, *others = run()
    assert history.steptime.loop in ("keras", "graph", "xla")
    same(history.history, expected.history, "auto")
    same(others, [weights, predicted], "auto")


def test_uninstall_gives_keras_its_own_methods_back(stock, classifier, samples):
    import keras

    import steptime

    steptime.install()
    assert keras.Model.fit is not stock["fit"]
    steptime.uninstall()
    assert keras.Model.fit is stock["fit"]
    assert not hasattr(classifier().fit(samples.x, samples.y, verbose=0), "steptime")


def test_installing_twice_is_undone_by_one_uninstall(stock):
    import keras

    import steptime

    steptime.install()
    steptime.install()
    steptime.uninstall()
    assert keras.Model.fit is stock["fit"]
    steptime.uninstall()
    assert keras.Model.fit is stock["fit"]


def test_an_installed_fit_keeps_name_signature_and_help(stock):
    import keras

    import steptime

    steptime.install()
    for name, theirs in stock.items():
        ours = getattr(keras.Model, name)
        assert ours.__name__ == name
        assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)


@pytest.mark.parametrize("kind", ["Sequential", "subclass that calls super().fit"])
def test_every_kind_of_model_is_reached(stock, kind, samples):
    import keras

    import steptime

    class Counts(keras.Sequential):
        fits = 0

        def fit(self, *args, **kwargs):
            Counts.fits += 1
            return super().fit(*args, **kwargs)

    steptime.install()
    make = keras.Sequential if kind == "Sequential" else Counts
    model = make([keras.Input((6,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(samples.x, samples.y.astype("float32"), epochs=1, verbose=0)
    assert history.steptime.loop in ("keras", "graph", "xla")
    assert Counts.fits == (kind != "Sequential")


@pytest.mark.parametrize("in_a_notebook", [True, False])
def test_the_bar_of_an_installed_fit_ends_each_epoch_as_keras_own(
    stock, classifier, samples, monkeypatch, capsys, in_a_notebook
):
    """Keras draws its bar anew in place in a notebook, which it knows by this module."""
    import keras

    import steptime

    if in_a_notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    else:
        monkeypatch.delitem(sys.modules, "ipykernel", raising=False)

    def lines():
        keras.utils.set_random_seed(4)
        classifier().fit(samples.x, samples.y, batch_size=8, epochs=2, shuffle=False, validation_split=0.25)
        drawn = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
        # What stands on each line at last; times differ from run to run.
        shown = [re.split(r"[\r\b]", line)[-1] for line in drawn.splitlines()]
        return [re.sub(r"\d+[mu]?s(/step)?", "", line) for line in shown if line.strip()]

    expected = lines()
    steptime.install()
    found = lines()

    assert found == expected
    assert sum(line.startswith("Epoch ") for line in found) == 2
    assert sum(" - loss: " in line and "val_loss" in line for line in found) == 2


def test_keras_2_is_said_not_to_be_accelerated(stock, monkeypatch):
    import steptime

    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")

    with pytest.warns(UserWarning, match="Keras 2"):
        steptime.install()


def test_what_a_script_s_runner_put_there_stays(stock, monkeypatch):
    import keras

    import steptime

    def measured(self):
        """Stands for the fit of steptime run."""

    keras.Model.fit = measured
    steptime.install()

    assert keras.Model.fit is measured
    assert keras.Model.predict is not stock["predict"]
