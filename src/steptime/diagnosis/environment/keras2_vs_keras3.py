"""Code or a model for Keras 2 meets Keras 3, or the other way round."""

from steptime.diagnosis.condition import Says, at_least
from steptime.diagnosis.rule import Case, Clue, Remedy, Rule

RULE = Rule(
    kind="keras2-vs-keras3",
    title="Code or a saved model written for Keras 2 meets Keras 3 (or the reverse).",
    cause=(
        "tf.keras is Keras 3 since TensorFlow 2.16; Keras 2 lives on as the package tf-keras, which "
        "must have TensorFlow's minor version."
    ),
    remedies=(
        Remedy(
            (
                (
                    "python -m pip install \"tf-keras~=$(python -c 'import importlib.metadata as m; "
                    'print(".".join(m.version("tensorflow").split(".")[:2]))\').0"'
                ),
                "export TF_USE_LEGACY_KERAS=1   # before the first import; on Windows: set TF_USE_LEGACY_KERAS=1",
                "# or port the code: use import keras, .keras files and Keras 3's arguments",
            )
        ),
    ),
    verify='python -c "import tensorflow as tf; print(tf.keras.__version__)"',
    clues=(
        Clue(
            3,
            Says(
                r"has never been called and thus has no defined (output|input)",
                r"no module named '?keras\.src\.(legacy|engine)",
                r"tf_keras",
                r"tf-keras",
                r"keras 3 only supports v3",
                r"use_legacy_keras",
                r"file format not supported: ?filepath=.{0,120}keras 3",
                r"installed version of keras is keras 3",
                (
                    r"no module named '?(keras\.(engine|utils\.generic_utils|layers\.(core|merge|normalization|"
                    r"advanced_activations|convolutional|recurrent|wrappers))|tensorflow\.(python\.)?keras)"
                ),
                (
                    r"(unrecognized|unexpected) keyword arguments? (passed to|')?.{0,40}'?(batch_shape|"
                    r"batch_input_shape|time_major|lr|decay|input_shape|implementation)'"
                ),
                r"kerastensor (cannot|is symbolic|can't)",
                r"only input tensors may be passed as positional arguments",
                r"could not (deserialize|locate) (class|function) .{0,30}",
                r"a kerastensor is symbolic",
                r"cannot import name '\w{1,30}' from '(tensorflow\.)?keras",
                r"module '?(tensorflow\.)?(keras|tf_keras)[\w.]{0,40}'? has no attribute",
                r"argument\(s\) not recognized: ?\{",
                (
                    r"'(sequential|functional|model|dense|inputlayer|function)' object has no attribute "
                    r"'(_\w{1,30}|input_shape|output_shape|sample_weight|batch_input_shape|predict_classes)'"
                ),
                r"__internal__",
                r"keras[ =]{1,3}2.{0,20}(vs|and|with|to) keras[ =]{1,3}3",
                r"layer '?\w{1,30}'? expected \d variables, but received \d variables",
                r"_unconditional_checkpoint_dependencies",
                r"layer .{1,30}expected \d{1,2} input\(s\)",
                r"keras[ =v]{0,3}3(?![\d.]{0,2}\d*%)",
                r"keras (is )?3\.0",
                r"legacy (keras|optimizer|h5)",
                r"keras\.optimizers\.legacy",
                r"keras\.src\.(ops|models|saving).{0,400}(attributeerror|typeerror|valueerror)",
                r"could not interpret (optimizer|initializer|activation)",
                r"weight .{0,60}no longer supported|jit_compile.{0,30}unexpected",
                r"\.weights\.h5",
                r"(2\.15|2\.1[0-4]).{0,80}2\.1[6-9].{0,60}keras",
                r"'sequential' object has no attribute",
                (
                    r"has no attribute '(get_config|_keras_history|_keras_shape|set_vocabulary|predict_proba|"
                    r"predict_classes|fit_generator|get_shape|_name|lr)'"
                ),
                r"transformers.{0,80}keras",
                r"no module named 'keras\.",
                r"the filepath provided must end in [`']?\.(weights\.h5|keras)",
            ),
        ),
        Clue(0.4, at_least("tensorflow", "2.16")),
    ),
    commonness=3,
    consequences=("two-tf-packages", "windows-native-no-gpu", "tensorflow-import-failed"),
    decide='python -c "import keras; print(keras.__version__)"',
    fires=(
        Case(
            log="AttributeError: The layer sequential has never been called and thus has no defined output.",
            stated=("tensorflow=2.17",),
        ),
    ),
    silent=(Case(stated=("tensorflow=2.17", "platform=linux")),),
)
