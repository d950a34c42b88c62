import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.environment.releases import RELEASES, cuda_major, release_of
from steptime.environment.versions import compare, first, numbers

VERSIONS = st.lists(st.integers(0, 999), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))


@given(VERSIONS, VERSIONS)
def test_comparing_is_antisymmetric(left, right):
    assert compare(left, right) == -compare(right, left)


@given(VERSIONS)
def test_a_version_equals_itself_and_its_own_beginning(version):
    assert compare(version, version) == 0
    assert compare(version, version.split(".")[0]) == 0


@given(st.text(max_size=40))
def test_any_text_can_be_asked_for_a_version(text):
    assert first(text) is None or numbers(first(text))


@pytest.mark.parametrize(
    ("tensorflow", "major"),
    [("2.21.0", 12), ("2.14.1", 11), ("2.3", 10), ("1.15", 10), ("1.12", 9), ("nightly", None)],
)
def test_each_tensorflow_wants_one_cuda_major(tensorflow, major):
    assert cuda_major(tensorflow) == major


def test_the_table_of_releases_agrees_with_the_rule_for_cuda():
    for release in RELEASES:
        assert numbers(release.cuda)[0] == cuda_major(release.name)
        assert release_of(f"{release.name}.1") is release
        assert release.lowest_cc <= release.native_cc


def test_release_2_1_is_not_taken_for_2_10():
    assert release_of("2.1") is None
