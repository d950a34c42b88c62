"""What the launcher knows of a worker that was killed, with control groups laid out in a folder."""

import os
from pathlib import Path

import pytest

from steptime.launch.evidence import MemoryEvidence


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/job\n")
    (tmp_path / "sys/fs/cgroup/job").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/job/memory.max").write_text("1073741824\n")
    return tmp_path


def count(root: Path, kills: int) -> None:
    (root / "sys/fs/cgroup/job/memory.events").write_text(f"low 0\nhigh 0\nmax 5\noom 1\noom_kill {kills}\n")


def test_a_kill_that_the_kernel_counts_is_a_lack_of_memory(root: Path) -> None:
    evidence = MemoryEvidence(root=root)
    count(root, 2)
    evidence.begin()
    evidence.look(os.getpid())
    count(root, 3)

    fault = evidence.fault("SIGKILL", "")

    assert fault.kind == "out of memory"
    assert fault.used_bytes is not None
    assert fault.used_bytes > 1_000_000
    assert fault.details == (
        "the kernel counts 1 process(es) killed for memory meanwhile", "the control group allows 1.00 GiB"
    )  # fmt: skip


def test_a_kill_that_the_kernel_did_not_make_is_only_a_kill(root: Path) -> None:
    evidence = MemoryEvidence(root=root)
    count(root, 2)
    evidence.begin()

    assert evidence.fault("SIGKILL", "").kind == "killed"
    assert evidence.fault("SIGSEGV", "").kind == "killed"


def test_where_nobody_counts_a_kill_is_a_kill(tmp_path: Path) -> None:
    evidence = MemoryEvidence(root=tmp_path)
    evidence.begin()

    assert evidence.fault("SIGKILL", "").kind == "killed"


def test_a_log_that_ends_with_a_failed_allocation_is_a_lack_of_memory(tmp_path: Path) -> None:
    evidence = MemoryEvidence(root=tmp_path)
    log = "OOM when allocating tensor with shape[1024,1024] and type float on /device:GPU:0"

    assert (evidence.fault("SIGABRT", log).kind, evidence.fault(None, log).needed_bytes) == (
        "out of memory",
        4194304,
    )


def test_a_worker_that_ends_by_itself_without_a_record_has_crashed(tmp_path: Path) -> None:
    assert MemoryEvidence(root=tmp_path).fault(None, "last words").kind == "crashed"


def test_a_worker_that_is_gone_keeps_what_was_seen_of_it(tmp_path: Path) -> None:
    evidence = MemoryEvidence(root=tmp_path, used_bytes=7)
    evidence.look(2**30)  # no such process

    assert evidence.used_bytes == 7
