"""The MNIST images that come with the package, checked by hash when read."""

import hashlib
import zipfile
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from steptime.errors import UsageError

Arrays = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]

# SHA-256 of each array's raw bytes, so that a repacked file with the same images is accepted and no other.
_SHA256 = {
    "x_train": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
    "y_train": "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
    "x_test": "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
    "y_test": "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
}


def load_mnist() -> tuple[Arrays, Arrays]:
    """Return ((x_train, y_train), (x_test, y_test)).

    Images are uint8 of shape (60000, 28, 28) and (10000, 28, 28), labels uint8 of shape (60000,) and (10000,).

    Raises:
        UsageError: The packaged file is missing or its content is not the real MNIST.
    """
    source = files("steptime.workloads") / "data" / "mnist.npz"
    try:
        # np.load leaves a file open that it opened itself and could not read.
        with as_file(source) as path, path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in _SHA256}
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise UsageError(
            f"The packaged mnist.npz must be readable. {error}", hint="Install steptime again."
        ) from None
    for name, array in arrays.items():
        digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        if digest != _SHA256[name]:
            raise UsageError(
                f"{name} in mnist.npz must have SHA-256 {_SHA256[name][:12]}... Received: {digest[:12]}...",
                hint="The file was altered: install steptime again.",
            )
    return (arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"])
