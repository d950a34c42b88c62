"""Forks trainings from a process that has imported everything, and kills them at chosen instants.

A training that is killed after two seconds would spend most of its time importing. `serve` imports once and forks a
child for each order, before the framework has started any thread of its own; what the child does is what a fresh
process would do. Orders come as lines of JSON on stdin, answers go to stdout.

Only the standard library: this file runs in the environments of peers too.
"""

import json
import os
import selectors
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

Mark = Callable[..., None]
TIMEOUT_S = 150


def serve(train: Callable[[dict[str, Any], Mark], None]) -> None:
    """Answers orders until stdin closes.

    Args:
        train: Executes an order in the child; it calls `mark(kind, ...)` at what the killer may wait for.
    """
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_execute(train, json.loads(line))), flush=True)


def _execute(train: Callable[[dict[str, Any], Mark], None], order: dict[str, Any]) -> dict[str, Any]:
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _live(train, order, write_end)
    os.close(write_end)
    marks, killed = _watch(child, read_end, order.get("kill"))
    os.close(read_end)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"killed": killed, "status": status, "marks": marks}


def _live(train: Callable[[dict[str, Any], Mark], None], order: dict[str, Any], write_end: int) -> None:
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    begin_s = time.perf_counter()

    def mark(kind: str, **fields: Any) -> None:
        line = json.dumps({"kind": kind, "s": round(time.perf_counter() - begin_s, 4), **fields})
        os.write(write_end, line.encode() + b"\n")

    try:
        train(order, mark)
    except BaseException:  # noqa: BLE001 - whatever ends a training is the answer to the order
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _watch(child: int, read_end: int, kill: dict[str, Any] | None) -> tuple[list[dict[str, Any]], bool]:
    """Read marks until the child's end; kill it `delay_s` after the mark that `kill` describes."""
    marks: list[dict[str, Any]] = []
    due_s, killed = time.perf_counter() + TIMEOUT_S, False
    waiting = kill is not None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(read_end, selectors.EVENT_READ)
        while True:
            if selector.select(max(due_s - time.perf_counter(), 0)):
                chunk = os.read(read_end, 65536)
                if not chunk:
                    return marks, killed
                *lines, rest = (rest + chunk).split(b"\n")
                marks += map(json.loads, lines)
            if waiting and kill is not None and _is_reached(marks, kill):
                waiting, due_s = False, time.perf_counter() + kill["delay_s"]
            if time.perf_counter() >= due_s and not killed:
                os.kill(child, signal.SIGKILL)
                killed = True
                due_s = time.perf_counter() + TIMEOUT_S


def _is_reached(marks: list[dict[str, Any]], kill: dict[str, Any]) -> bool:
    """Whether the `nth` mark of the kind, at or after `step` and `after` an earlier kind, was seen."""
    seen = marks
    if "after" in kill:
        firsts = [index for index, mark in enumerate(marks) if mark["kind"] == kill["after"]]
        seen = marks[firsts[0] :] if firsts else []
    fitting = [m for m in seen if m["kind"] == kill["kind"] and m.get("step", 0) >= kill.get("step", 0)]
    return len(fitting) >= kill.get("nth", 1)


class Nursery:
    """The other end: starts a serving script, sends orders, and gives answers."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        import subprocess

        variables = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", **(environment or {})}
        variables["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(Path(__file__).parent), variables.get("PYTHONPATH")])
        )
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
        )
        self._answer()

    def order(self, **order: Any) -> dict[str, Any]:
        """Execute one order and return its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the serving process ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Let the serving process end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(TIMEOUT_S)
        if self._process.stdout is not None:
            self._process.stdout.close()
