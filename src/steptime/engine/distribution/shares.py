"""Which samples of a global batch a replica computes, and how much they count. Pure arithmetic.

Works on whole numbers and on integer tensors alike.
"""

from typing import Any, NamedTuple


class Share(NamedTuple):
    """A replica's part of one global batch.

    Attributes:
        begin: First sample, within the batch.
        size: Number of samples.
    """

    begin: Any
    size: Any


def share_of(count: Any, replica: Any, replicas: int) -> Share:
    """The part of a batch of `count` samples, of which there are at least as many as replicas.

    Parts follow each other without gap or overlap and differ by one sample at most.

    Args:
        count: Samples in the global batch.
        replica: Number of the replica among all, from 0.
        replicas: Number of replicas.
    """
    begin = count * replica // replicas
    return Share(begin, count * (replica + 1) // replicas - begin)


def may_be_idle(samples: int, batch_size: int, replicas: int) -> bool:
    """Whether the last batch of a pass has fewer samples than there are replicas."""
    return 0 < samples % batch_size < replicas
