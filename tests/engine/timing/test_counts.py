"""Operations counted in traced graphs, against published counts and against hand-made ones."""

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
keras = pytest.importorskip("keras")
tf = pytest.importorskip("tensorflow")

from steptime.engine.timing.counts import count_nodes, forward, total_bytes, total_flops  # noqa: E402
from steptime.engine.timing.groups import HEAVY  # noqa: E402

# Multiply-accumulates of one image.
PUBLISHED = [
    # He et al., "Deep residual learning for image recognition" (arXiv 1512.03385), table 1: 3.8e9. The count of
    # that architecture with all digits, 3.86e9, is in "MLPerf"-style tables of the original (v1) model.
    ("ResNet50", 3.8e9),
    # Howard et al., "MobileNets" (arXiv 1704.04861), table 8: VGG 16, 15300 million mult-adds.
    ("VGG16", 15.3e9),
    # Sandler et al., "MobileNetV2" (arXiv 1801.04381), table 4: 300 million.
    ("MobileNetV2", 300e6),
]


def spec(*shape: int, dtype: Any = None) -> Any:
    return tf.TensorSpec(shape, dtype or tf.float32)


def flops(function: Any, *specs: Any) -> int | None:
    return total_flops(count_nodes(tf.function(function).get_concrete_function(*specs)), HEAVY)


@pytest.mark.parametrize(("name", "multiply_accumulates"), PUBLISHED)
def test_known_models_have_their_published_counts_within_two_per_cent(
    name: str, multiply_accumulates: float
) -> None:
    model = getattr(keras.applications, name)(weights=None)

    nodes = forward(model, spec(1, 224, 224, 3), training=False)

    assert total_flops(nodes, HEAVY) == pytest.approx(2 * multiply_accumulates, rel=0.02)


@pytest.mark.parametrize(
    ("function", "specs", "expected"),
    [
        (tf.matmul, [(3, 5), (5, 7)], 2 * 3 * 5 * 7),
        (lambda a, b: tf.matmul(a, b, transpose_a=True), [(5, 3), (5, 7)], 2 * 3 * 5 * 7),
        (tf.matmul, [(4, 3, 5), (4, 5, 7)], 4 * 2 * 3 * 5 * 7),
        (lambda a, b: tf.einsum("abc,cd->abd", a, b), [(2, 3, 5), (5, 7)], 2 * 2 * 3 * 5 * 7),
        (lambda a, b: tf.einsum("...c,cd->...d", a, b), [(2, 3, 5), (5, 7)], 2 * 2 * 3 * 5 * 7),
        (lambda x, k: tf.nn.conv2d(x, k, 2, "SAME"), [(2, 8, 8, 3), (3, 3, 3, 5)], 2 * 2 * 16 * 5 * 27),
        (lambda x, k: tf.nn.conv2d(x, k, 1, "VALID"), [(1, 8, 8, 4), (3, 3, 2, 6)], 2 * 36 * 6 * 18),
        (
            lambda x, k: tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "SAME"),
            [(1, 8, 8, 4), (3, 3, 4, 1)],
            2 * 64 * 4 * 9,
        ),
        (
            lambda x, k: tf.nn.conv3d(x, k, [1] * 5, "SAME"),
            [(1, 4, 4, 4, 2), (3, 3, 3, 2, 5)],
            2 * 64 * 5 * 54,
        ),
    ],
)
def test_products_and_convolutions_count_twice_their_multiply_adds(
    function: Any, specs: list[tuple[int, ...]], expected: int
) -> None:
    assert flops(function, *(spec(*shape) for shape in specs)) == expected


def test_both_gradients_of_a_convolution_count_as_much_as_the_convolution() -> None:
    def gradients(x: Any, k: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, k])
            y = tf.reduce_sum(tf.nn.conv2d(x, k, 1, "SAME"))
        return tape.gradient(y, [x, k])

    once = flops(lambda x, k: tf.nn.conv2d(x, k, 1, "SAME"), spec(2, 8, 8, 3), spec(3, 3, 3, 5))

    assert once is not None
    # The convolution itself is pruned: its gradients do not need its result.
    assert flops(gradients, spec(2, 8, 8, 3), spec(3, 3, 3, 5)) == 2 * once


def test_what_no_result_needs_is_not_counted() -> None:
    def wasteful(a: Any) -> Any:
        tf.matmul(a, a)
        return a + 1.0

    assert flops(wasteful, spec(64, 64)) == 0


def test_the_body_of_a_recurrent_layer_counts_once_for_each_time_step() -> None:
    model = keras.Sequential([keras.Input((12, 3)), keras.layers.LSTM(5)])
    nodes = forward(model, spec(2, 12, 3), training=False)

    assert total_flops(nodes, HEAVY) == 12 * 2 * 2 * (3 + 5) * 4 * 5


def test_the_gradient_of_a_recurrent_layer_is_counted() -> None:
    layer = keras.layers.LSTM(5)
    layer.build((2, 12, 3))

    def gradients(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(layer(x))
        return tape.gradient(y, layer.trainable_variables)

    counted = flops(gradients, spec(2, 12, 3))

    assert counted is not None
    assert counted > 2 * 12 * 2 * 2 * (3 + 5) * 4 * 5


def test_a_product_without_a_formula_is_unknown_and_not_free() -> None:
    def product(values: Any, dense: Any) -> Any:
        return tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 0]], values, [3, 4]), dense)

    assert flops(product, spec(1), spec(4, 5)) is None


def test_of_two_branches_the_heavier_counts() -> None:
    def chosen(a: Any) -> Any:
        return tf.cond(tf.reduce_sum(a) > 0, lambda: a @ a, lambda: a + 1.0)

    assert flops(chosen, spec(4, 4)) == 2 * 4**3


def test_products_in_a_loop_without_a_bound_are_unknown_and_others_count_once() -> None:
    def looped(body: Any) -> Any:
        return lambda a: tf.while_loop(lambda a: tf.reduce_sum(a) > 0, lambda a: (body(a),), (a,))[0]

    assert flops(looped(lambda a: a @ a), spec(4, 4)) is None
    assert flops(looped(lambda a: a - 1.0), spec(4, 4)) == 0


def test_a_batch_of_unknown_size_has_no_made_up_count() -> None:
    assert flops(lambda a: tf.matmul(a, a), tf.TensorSpec((None, 4), tf.float32)) is None


def test_bytes_are_those_of_what_is_read_and_written() -> None:
    nodes = count_nodes(tf.function(tf.tanh).get_concrete_function(spec(10, 10)))

    assert total_bytes(nodes) == 2 * 400


def test_reading_weights_is_told_apart() -> None:
    weight = tf.Variable(np.zeros((5, 7), np.float32))
    nodes = count_nodes(tf.function(lambda a: tf.matmul(a, weight)).get_concrete_function(spec(3, 5)))

    assert sum(node.weight_bytes for node in nodes) == 5 * 7 * 4
