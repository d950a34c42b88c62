"""Commands that many remedies share, so that today's truth about installing stands in one place."""

INSTALL = "python -m pip install --upgrade 'tensorflow[and-cuda]'"
INSTALL_CPU = "python -m pip install --upgrade tensorflow"
LIST_GPUS = "python -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\""
BUILD_INFO = 'python -c "import tensorflow as tf; print(tf.sysconfig.get_build_info())"'
IMPORT = 'python -c "import tensorflow as tf; print(tf.__version__)"'
NEW_VENV = "python3.12 -m venv ~/tf && source ~/tf/bin/activate"
NEW_VENV_WINDOWS = "py -3.12 -m venv %USERPROFILE%\\tf && %USERPROFILE%\\tf\\Scripts\\activate"
SMI = "nvidia-smi"
SMI_LIST = "nvidia-smi -L"
DOCTOR = "steptime doctor"
DOCKER_TEST = "docker run --rm --gpus all ubuntu nvidia-smi"
DOCKER_RUN = "docker run --rm --gpus all tensorflow/tensorflow:latest-gpu " + LIST_GPUS
TRAIN_STEP = (
    'python -c "import tensorflow as tf; x = tf.random.normal((512, 512)); '
    'print(tf.linalg.matmul(x, x).device)"'
)
XLA_STEP = (
    'python -c "import tensorflow as tf; print(tf.function(lambda x: tf.exp(x) + 1, '
    'jit_compile=True)(tf.ones(8)).device)"'
)
WSL_STEPS = (
    "wsl --install -d Ubuntu   # in PowerShell as administrator; then restart Windows",
    "# NVIDIA driver: on the Windows side only (528.33 or newer; 570 or newer for RTX 50); none inside Ubuntu",
    "python3 -m venv ~/tf && source ~/tf/bin/activate   # inside Ubuntu",
    INSTALL,
)
REBOOT = "sudo reboot"
