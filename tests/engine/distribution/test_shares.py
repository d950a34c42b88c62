"""Who computes which samples of a global batch."""

from hypothesis import given
from hypothesis import strategies as st

from steptime.engine.distribution.shares import may_be_idle, share_of

REPLICAS = st.integers(1, 17)


@given(REPLICAS, st.integers(0, 500))
def test_every_sample_belongs_to_exactly_one_replica(replicas: int, more: int) -> None:
    count = replicas + more
    shares = [share_of(count, replica, replicas) for replica in range(replicas)]
    taken = [sample for share in shares for sample in range(share.begin, share.begin + share.size)]
    assert taken == list(range(count))


@given(REPLICAS, st.integers(0, 500))
def test_shares_differ_by_one_sample_at_most_and_none_is_empty(replicas: int, more: int) -> None:
    sizes = [share_of(replicas + more, replica, replicas).size for replica in range(replicas)]
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(1, 300), st.integers(1, 50), REPLICAS)
def test_idle_replicas_are_foreseen_exactly(samples: int, batch_size: int, replicas: int) -> None:
    last = samples % batch_size
    assert may_be_idle(samples, batch_size, replicas) == (last != 0 and last < replicas)
