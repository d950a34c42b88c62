"""How often callbacks need control."""

import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")

from steptime.engine.cadence import Cadence, watches_predict_batches, watches_test_batches  # noqa: E402


class EveryBatch(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        pass


class OldName(keras.callbacks.Callback):
    def on_batch_begin(self, batch, logs=None):
        pass


@pytest.mark.parametrize(
    "callback",
    [
        keras.callbacks.History(),
        keras.callbacks.EarlyStopping(),
        keras.callbacks.ReduceLROnPlateau(),
        keras.callbacks.TerminateOnNaN(),
        keras.callbacks.ModelCheckpoint("m.keras"),
        keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: None),
        keras.callbacks.TensorBoard("logs", write_graph=False),
    ],
    ids=lambda c: type(c).__name__,
)
def test_callbacks_that_act_on_epochs_let_chunks_be_as_long_as_they_like(callback):
    cadence = Cadence([callback])
    assert cadence.limit(0) is None
    assert cadence.cost is None


@pytest.mark.parametrize(
    "callback",
    [
        EveryBatch(),
        OldName(),
        keras.callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: None),
        keras.callbacks.TensorBoard("logs", update_freq="batch", write_graph=False),
        keras.callbacks.TensorBoard("logs", write_steps_per_second=True, write_graph=False),
    ],
    ids=lambda c: type(c).__name__,
)
def test_a_callback_that_acts_on_batches_gets_every_batch_and_the_cost_is_named(callback):
    cadence = Cadence([keras.callbacks.History(), callback])
    assert cadence.limit(0) == cadence.limit(17) == 1
    assert type(callback).__name__ in cadence.cost


def test_the_progress_bar_appears_with_the_first_step_of_an_epoch_and_costs_no_more():
    bar = keras.callbacks.ProgbarLogger()
    cadence = Cadence([bar])
    assert (cadence.limit(0), cadence.limit(1), cadence.cost) == (1, None, None)
    bar.verbose = 2
    assert Cadence([bar]).limit(0) is None


def test_chunks_end_where_a_checkpoint_is_saved():
    checkpoint = keras.callbacks.ModelCheckpoint("m.keras", save_freq=10)
    cadence = Cadence([checkpoint])
    assert cadence.limit(0) == 1
    assert checkpoint._should_save_on_batch(0) is False
    assert cadence.limit(1) == 9
    assert checkpoint._should_save_on_batch(9) is True
    assert cadence.limit(10) == 10


def test_a_subclass_that_replaces_the_hook_of_a_known_callback_gets_every_batch():
    class Mine(keras.callbacks.ModelCheckpoint):
        def on_train_batch_end(self, batch, logs=None):
            pass

    assert Cadence([Mine("m.keras")]).every_batch


def test_an_infinite_loss_stops_a_chunk_only_when_a_callback_would_stop():
    assert Cadence([keras.callbacks.TerminateOnNaN()]).stop_on_infinite_loss
    assert not Cadence([keras.callbacks.History()]).stop_on_infinite_loss


def test_hooks_of_evaluation_and_prediction_are_seen():
    class Watch(keras.callbacks.Callback):
        def on_test_batch_end(self, batch, logs=None):
            pass

        def on_predict_batch_begin(self, batch, logs=None):
            pass

    assert watches_test_batches([Watch()])
    assert watches_predict_batches([Watch()])
    assert not watches_test_batches([keras.callbacks.ProgbarLogger()])
    assert not watches_predict_batches([keras.callbacks.ProgbarLogger()])


def test_who_only_wants_to_hear_that_a_test_goes_on_takes_what_comes():
    class Listens(keras.callbacks.Callback):
        takes_pieces = True

        def on_test_batch_end(self, batch, logs=None):
            pass

    assert not watches_test_batches([Listens()])
    Listens.takes_pieces = False
    assert watches_test_batches([Listens()])
