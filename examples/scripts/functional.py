"""A functional model with two inputs and two outputs, and a loss for each, run from top to bottom."""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(2)
random = np.random.default_rng(2)
numbers = random.normal(size=(12_000, 10)).astype("float32")
words = random.integers(0, 200, size=(12_000, 6)).astype("int32")
price = (numbers[:, :3].sum(axis=1) + 0.01 * words[:, 0])[:, None].astype("float32")
is_dear = (price > 1.0).astype("float32")

number_input = keras.Input((10,), name="numbers")
word_input = keras.Input((6,), dtype="int32", name="words")
embedded = layers.GlobalAveragePooling1D()(layers.Embedding(200, 16)(word_input))
hidden = layers.Dense(48, activation="relu")(layers.Concatenate()([number_input, embedded]))
hidden = layers.LayerNormalization()(hidden)
outputs = {
    "price": layers.Dense(1, name="price")(hidden),
    "is_dear": layers.Dense(1, activation="sigmoid", name="is_dear")(hidden),
}
model = keras.Model({"numbers": number_input, "words": word_input}, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss={"price": "mse", "is_dear": "binary_crossentropy"},
    loss_weights={"price": 1.0, "is_dear": 0.5},
    metrics={"is_dear": ["accuracy"]},
)
history = model.fit(
    {"numbers": numbers, "words": words},
    {"price": price, "is_dear": is_dear},
    batch_size=64,
    epochs=5,
    verbose=0,
)
predicted = model.predict({"numbers": numbers[:5], "words": words[:5]}, verbose=0)
last = {name: values[-1] for name, values in history.history.items()}
print(f"result loss {last['loss']:.5f} accuracy {last['is_dear_accuracy']:.4f}")
print("prices", predicted["price"].shape, "dear", predicted["is_dear"].shape)
