import os
import subprocess
import sys

import psutil
import pytest

from steptime.device.process_tree import ProcessTree


def burn(seconds_cpu=0.05):
    import time

    end = time.process_time() + seconds_cpu
    while time.process_time() < end:
        pass


def test_processor_time_of_this_process_grows_with_work():
    tree = ProcessTree(os.getpid())
    before_s, memory_bytes = tree.read()
    burn()
    after_s, _ = tree.read()
    assert after_s - before_s >= 0.03
    assert memory_bytes > 2**20


def test_memory_and_time_of_children_count():
    alone_bytes = ProcessTree(os.getpid()).read()[1]
    code = "import sys; sum(range(10**6)); print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        tree = ProcessTree(os.getpid())
        together_bytes = tree.read()[1]
        assert together_bytes > alone_bytes + 2**20
        child.communicate(b"")
    # The ended child is passed over, and its time has moved to this process.
    assert tree.read() is not None


def test_a_process_that_has_ended_is_unknown():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        tree = ProcessTree(child.pid)
        assert tree.read() is not None
        child.communicate(b"\n")
    assert tree.read() is None


def test_a_process_that_never_was_is_an_error():
    with pytest.raises(psutil.NoSuchProcess):
        ProcessTree(2**22 + 1)


def test_children_are_not_searched_for_at_every_reading(monkeypatch):
    searches = []
    monkeypatch.setattr(psutil.Process, "children", lambda self, recursive: searches.append(recursive) or [])
    tree = ProcessTree(os.getpid())
    for _ in range(5):
        tree.read()
    assert searches == [True]
