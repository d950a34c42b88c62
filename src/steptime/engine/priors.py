"""What is expected of each loop for a given model, before anything was measured."""

from collections.abc import Sequence

import keras

from steptime.engine import private_keras
from steptime.engine.kernels import substitute
from steptime.engine.loops.xla import why_not_xla
from steptime.engine.prior import Prior
from steptime.engine.step import TracedStep

_CONVOLUTIONS = (
    keras.layers.Conv1D, keras.layers.Conv2D, keras.layers.Conv3D, keras.layers.DepthwiseConv1D,
    keras.layers.DepthwiseConv2D, keras.layers.SeparableConv1D, keras.layers.SeparableConv2D,
    keras.layers.Conv1DTranspose, keras.layers.Conv2DTranspose, keras.layers.Conv3DTranspose,
)  # fmt: skip
# Layers for which XLA's gain on a CPU is uniform: one matrix product and many small operations.
_SMALL_OPERATIONS = (
    keras.layers.InputLayer, keras.layers.Dense, keras.layers.Activation, keras.layers.Flatten,
    keras.layers.Reshape, keras.layers.Dropout, keras.layers.Rescaling, keras.layers.Concatenate,
    keras.layers.RNN, keras.layers.ReLU, keras.layers.Add,
)  # fmt: skip

# Operations saved by exact kernels and the host's time for each. Source: op counts of stock Keras 3.15 graphs.
_SAVED_BY_BATCH_NORMALIZATION = 27
_SAVED_BY_ADAM = 20
_CPU_OPERATION_S = 2e-6
_GPU_OPERATION_S = 8e-6


def candidates(
    model: keras.Model, step: TracedStep, *, device: str, why_not_resident: str | None
) -> list[Prior]:
    """The candidates for one `fit`, in order of preference when equally fast, Keras' own loop first.

    Args:
        model: A compiled model.
        step: Its traced step.
        device: "/CPU:0" or "/GPU:0".
        why_not_resident: Why the data do not lie on the device; None when they do.
    """
    not_looped = step.why_not_looped()
    not_xla = not_looped or why_not_resident or why_not_xla(model, step)
    return [
        Prior(loop="keras"),
        # Saved: one call from Python, one reading of the logs, and tf.data's hand-over; measured 0.5 to 2 ms.
        # The loop runs the same operations, so it is preferred unless it is clearly slower.
        Prior(
            loop="graph",
            impossible=not_looped,
            over="keras",
            # On a CPU tf.data's threads compete with the step: the tutorial's CNN ran 1.2 to 1.4 times as fast.
            step_share=0.9 if device.startswith("/CPU") else 1.0,
            saved_s=0.6e-3,
            compile_share=2.0 if model.jit_compile else 1.2,
            likely=True,
            margin_share=-0.25 if device.startswith("/CPU") else -0.1,
        ),
        _kernels(model, step, device, not_looped),
        _xla(model, device, not_xla),
    ]


def unwise_xla(model: keras.Model, device: str) -> str | None:
    """Why XLA is possible but not worth a trial; None when it may be."""
    if device.startswith("/CPU"):
        for layer in private_keras.flatten_layers(model):
            if isinstance(layer, _CONVOLUTIONS):
                return (
                    f"not tried: XLA runs convolutions 4 to 8 times slower than TensorFlow on a CPU "
                    f"(layer {layer.name})"
                )
    elif not model.jit_compile:
        return "not tried: the model was compiled with jit_compile=False"
    return None


def _xla(model: keras.Model, device: str, impossible: str | None) -> Prior:
    if device.startswith("/CPU"):
        layers = [layer for layer in private_keras.flatten_layers(model) if layer is not model]
        return Prior(
            loop="xla",
            impossible=impossible,
            over="graph",
            step_share=0.4,
            compile_share=8.0,
            compile_s=0.3,
            likely=_all_of(layers, _SMALL_OPERATIONS),
        )
    return Prior(
        loop="xla",
        impossible=impossible,
        over="graph",
        step_share=0.7,
        compile_share=1.5 if model.jit_compile else 3.0,
        compile_s=2.0,
    )


def _all_of(layers: Sequence[keras.layers.Layer], kinds: tuple[type, ...]) -> bool:
    own = [layer for layer in layers if isinstance(layer, keras.layers.Layer)]
    return all(isinstance(layer, (*kinds, keras.Sequential)) or "cell" in layer.name for layer in own)


def _kernels(model: keras.Model, step: TracedStep, device: str, impossible: str | None) -> Prior:
    if impossible is None and model.jit_compile:
        impossible = "not needed: XLA fuses these operations itself"
    if impossible is None and step.side_effects:
        impossible = f"the step contains {step.side_effects[0]} and cannot be compared"
    if impossible is None:
        with substitute(model) as substituted:
            if not substituted:
                impossible = (
                    "nothing to substitute: no batch normalisation and no optimizer of the Adam family"
                )
    else:
        substituted = ()
    layers = private_keras.flatten_layers(model)
    saved = _SAVED_BY_BATCH_NORMALIZATION * sum(
        type(layer) is keras.layers.BatchNormalization for layer in layers
    )
    if any(name.startswith("Adam") for name in substituted):
        saved += _SAVED_BY_ADAM * len(model.trainable_variables)
    return Prior(
        loop="graph+kernels",
        impossible=impossible,
        over="graph",
        saved_s=saved * (_CPU_OPERATION_S if device.startswith("/CPU") else _GPU_OPERATION_S),
        compile_share=2.5,
    )
