"""What `private_keras` reaches for is still there in the Keras that is installed."""

import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")


def test_layers_are_listed_at_any_depth():
    from steptime.engine import private_keras

    deepest = keras.layers.Dense(1)
    model = keras.Sequential(
        [keras.layers.Input((3,)), keras.Sequential([keras.layers.Input((3,)), deepest])]
    )
    assert any(layer is deepest for layer in private_keras.flatten_layers(model))


@pytest.mark.parametrize(
    ("optimizer", "kinds"),
    [
        (keras.optimizers.Adam, ["momentum", "velocity"]),
        (keras.optimizers.AdamW, ["momentum", "velocity"]),
        (keras.optimizers.Adamax, ["momentum", "norm"]),
        (lambda: keras.optimizers.Adam(amsgrad=True), ["momentum", "velocity", "velocity_hat"]),
    ],
)
def test_an_optimizers_slots_are_found_for_a_variable(optimizer, kinds):
    from steptime.engine import private_keras

    layer = keras.layers.Dense(2, name="head")
    layer.build((None, 3))
    built = optimizer()
    built.build(layer.trainable_variables)
    slots = private_keras.optimizer_slots(built, layer.kernel)
    assert [slot.name.removeprefix("head_kernel_") for slot in slots] == kinds
    assert {tuple(slot.shape) for slot in slots} == {(3, 2)}
