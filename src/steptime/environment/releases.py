"""What each TensorFlow release needs: read out of the Linux x86_64 wheels (build information, metadata, binaries).

Minimum drivers: NVIDIA's "CUDA Compatibility", section minor version compatibility.
"""

from dataclasses import dataclass

from steptime.environment.versions import numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One minor release of TensorFlow for Linux x86_64.

    Attributes:
        name: Minor version, such as ``"2.16"``.
        python: First and last minor version of Python 3 that have a wheel.
        cuda: CUDA version the wheel was built with.
        cudnn: Smallest cuDNN version that works at run time.
        lowest_cc: Smallest compute capability with machine code in the wheel.
        native_cc: Largest compute capability with machine code for every kernel; newer ones compile PTX.
        numpy2: Whether it works with NumPy 2.
        protobuf_below: First major version of protobuf that it does not accept.
    """

    name: str
    python: tuple[int, int]
    cuda: str
    cudnn: str
    lowest_cc: float
    native_cc: float
    numpy2: bool
    protobuf_below: str


def _release(
    name: str, python: tuple[int, int], cuda: str, cudnn: str, cc: tuple[float, float], rest: tuple[bool, str]
) -> Release:
    return Release(
        name=name,
        python=python,
        cuda=cuda,
        cudnn=cudnn,
        lowest_cc=cc[0],
        native_cc=cc[1],
        numpy2=rest[0],
        protobuf_below=rest[1],
    )


RELEASES: tuple[Release, ...] = (
    _release("2.10", (7, 10), "11.2", "8.1", (3.5, 8.0), (False, "3.20")),
    _release("2.11", (7, 10), "11.2", "8.1", (3.5, 8.0), (False, "3.20")),
    _release("2.12", (8, 11), "11.8", "8.6", (3.5, 8.0), (False, "5")),
    _release("2.13", (8, 11), "11.8", "8.6", (3.5, 8.0), (False, "5")),
    _release("2.14", (9, 11), "11.8", "8.7", (3.5, 8.0), (False, "5")),
    _release("2.15", (9, 11), "12.2", "8.9", (5.0, 8.0), (False, "5")),
    _release("2.16", (9, 12), "12.3", "8.9", (5.0, 8.9), (False, "5")),
    _release("2.17", (9, 12), "12.3", "8.9", (6.0, 8.9), (False, "5")),
    _release("2.18", (9, 12), "12.5", "9.3", (6.0, 8.9), (True, "6")),
    _release("2.19", (9, 12), "12.5", "9.3", (6.0, 8.9), (True, "6")),
    _release("2.20", (9, 13), "12.5", "9.3", (6.0, 8.9), (True, "8")),
    _release("2.21", (10, 13), "12.5", "9.3", (6.0, 8.9), (True, "8")),
)
NEWEST = RELEASES[-1]
MIN_DRIVER = {11: "450.80.02", 12: "525.60.13", 13: "580"}
MIN_DRIVER_WINDOWS = {11: "452.39", 12: "528.33", 13: "580"}
MIN_DRIVER_BLACKWELL = "570"


def release_of(version: str) -> Release | None:
    """Return the release that a version belongs to, or ``None`` when the table does not have it.

    >>> release_of("2.16.1").cuda, release_of("1.15") is None
    ('12.3', True)
    """
    parts = numbers(version)[:2]
    return next((release for release in RELEASES if numbers(release.name) == parts), None)


def cuda_major(version: str) -> int | None:
    """Return the CUDA major version that a TensorFlow version wants (1.x and early 2.x included).

    Source: the table of tested build configurations of TensorFlow's install guide.

    >>> cuda_major("2.16.1"), cuda_major("2.4"), cuda_major("2.3"), cuda_major("1.12"), cuda_major("")
    (12, 11, 10, 9, None)
    """
    parts = numbers(version)
    if len(parts) < 2:
        return None
    steps = (((2, 15), 12), ((2, 4), 11), ((1, 13), 10), ((1, 5), 9), ((0, 11), 8))
    return next((major for start, major in steps if parts[:2] >= start), 7)
