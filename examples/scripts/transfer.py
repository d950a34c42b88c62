"""Transfer learning: a network of keras.applications, frozen below a new head, then its last block as well.

Its weights are random here, so that nothing is downloaded; `weights="imagenet"` is the usual way.
"""

import keras
import numpy as np

SIZE = 32


def main():
    keras.utils.set_random_seed(7)
    random = np.random.default_rng(7)
    y = random.integers(0, 3, size=600).astype("int32")
    x = random.uniform(0, 160, size=(600, SIZE, SIZE, 3)).astype("float32")
    x[np.arange(600), :, :, y] += 80.0

    base = keras.applications.MobileNetV2((SIZE, SIZE, 3), alpha=0.35, include_top=False, weights=None)
    base.trainable = False
    inputs = keras.Input((SIZE, SIZE, 3))
    features = base(keras.applications.mobilenet_v2.preprocess_input(inputs), training=False)
    features = keras.layers.GlobalAveragePooling2D()(features)
    model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(features))
    model.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy", metrics=["accuracy"])
    first = model.fit(x, y, epochs=3, verbose=0)

    base.trainable = True
    for layer in base.layers[:-3]:
        layer.trainable = False
    model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    second = model.fit(x, y, epochs=2, verbose=0)
    print(f"result loss {first.history['loss'][-1]:.5f} tuned_loss {second.history['loss'][-1]:.5f}")


if __name__ == "__main__":
    main()
