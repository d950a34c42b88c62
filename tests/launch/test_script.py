"""A script that steptime runs behaves as with ``python``, and its record says what happened.

None of these scripts imports TensorFlow, so each takes a fraction of a second.
"""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from steptime.record.schema import RunRecord
from steptime.record.store import create_call_folder, list_runs, read_plan, read_record

pytestmark = pytest.mark.slow

PYTHON = (sys.executable,)
STEPTIME = (sys.executable, "-m", "steptime", "run", "--runs", "runs")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path


def write(here: Path, source: str, name: str = "script.py") -> str:
    path = here / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    return name


def execute(
    prefix: tuple[str, ...], here: Path, *words: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*prefix, *words], cwd=here, input=stdin, capture_output=True, text=True, timeout=60
    )


def both(here: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a script both ways, checks that code, stdout and stderr are the same, and returns the run's."""
    expected = execute(PYTHON, here, *words, stdin=stdin)
    done = execute(STEPTIME, here, *words, stdin=stdin)
    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout), done.stderr
    assert done.stderr.startswith(expected.stderr)
    return done


def the_record(here: Path) -> RunRecord:
    (summary,) = list_runs(here / "runs")
    return read_record(summary.folder)


def test_names_paths_arguments_and_stdin_are_those_of_python(here: Path) -> None:
    write(here, "WIDTH = 3\n", "jobs/beside.py")
    script = write(
        here,
        "import os, sys\n"
        "from beside import WIDTH\n"
        "print(__name__, __file__, __spec__, __package__, sorted(globals()), WIDTH)\n"
        "print(sys.argv, sys.path, os.getcwd(), sys.stdin.read(), sys.modules['__main__'].WIDTH)\n"
        "print('talk', file=sys.stderr)\n"
        "print(sorted(key for key in os.environ if key.startswith('STEPTIME')))\n",
        "jobs/train.py",
    )

    done = both(here, script, "--epochs", "5", "--", "data/", "--device", "x", stdin="typed\n")

    assert "script  train: no fit" in done.stderr
    record = the_record(here)
    assert record.outcome.status == "ok"
    assert record.plan.workload.arguments == ("--epochs", "5", "--", "data/", "--device", "x")
    assert record.unavailable["proof"] == "the script did not import TensorFlow"


THREAD = """
import atexit, threading, time
atexit.register(print, "last")
threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
print("first")
"""
# The file and the pool are left open, and the object lives until Python takes itself down.
OPEN = """
from concurrent.futures import ThreadPoolExecutor

kept = open("history.txt", "w")
kept.write("1, 2, 3")
pool = ThreadPoolExecutor(2)
print(pool.submit(lambda: 42).result())


class Last:
    def __del__(self):
        print("finalised")


last = Last()
"""
CHAIN = "try:\n    1 / 0\nexcept Exception as e:\n    raise KeyError('k') from e\n"
OWN_HOOK = "import sys\nsys.excepthook = lambda *a: print('mine', a[0])\n1 / 0\n"
# Source -> exit code, and the reason in the record.
ENDS = {
    "import sys\nprint('before')\nsys.exit(3)\n": (3, "the script ended itself with exit code 3"),
    "exit('bad end')\n": (1, "the script ended itself with exit code 1"),
    "def f():\n    raise ValueError('boom')\n\nf()\n": (1, "ValueError: boom (script.py, line 2)"),
    "x = (1,\nprint(x)\n": (1, "SyntaxError: '(' was never closed (script.py, line 1)"),
    CHAIN: (1, "KeyError: 'k' (script.py, line 4)"),
    OWN_HOOK: (1, "ZeroDivisionError: division by zero (script.py, line 3)"),
    "import os\nprint('gone', flush=True)\nos._exit(5)\n": (
        5,
        "the process ended with exit code 5 before a record could be written",
    ),
    THREAD: (0, None),
    OPEN: (0, None),
}


@pytest.mark.parametrize(("source", "code", "reason"), [(source, *end) for source, end in ENDS.items()])
def test_every_end_is_pythons_and_the_record_names_it(
    here: Path, source: str, code: int, reason: str | None
) -> None:
    done = both(here, write(here, source))

    assert done.returncode == code
    outcome = the_record(here).outcome
    assert (outcome.exit_code, outcome.reason) == (code, reason)


def test_what_a_script_leaves_open_is_written_and_its_pools_end(here: Path) -> None:
    done = execute(STEPTIME, here, write(here, OPEN))

    assert done.stdout == "42\nfinalised\n"
    assert (here / "history.txt").read_text() == "1, 2, 3"


def test_a_module_of_the_persons_with_a_name_of_pythons_breaks_nothing(here: Path) -> None:
    write(here, "raise RuntimeError('imported')\n", "json.py")
    write(here, "print('ran')\n", "jobs/train.py")

    # -P: here steptime itself is started from the folder, which its own command is not.
    done = execute((sys.executable, "-P", *STEPTIME[1:]), here, "jobs/train.py")

    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
    assert the_record(here).outcome.status == "ok"


def test_processes_that_a_script_starts_find_its_functions(here: Path) -> None:
    source = (
        "import multiprocessing, os\n"
        "def square(x):\n    return x * x\n\n"
        "if __name__ == '__main__':\n"
        "    for method in ('spawn', 'fork'):\n"
        "        with multiprocessing.get_context(method).Pool(1) as pool:\n"
        "            print(method, pool.map(square, range(3)))\n"
        "    if os.fork() == 0:\n        print('child', flush=True)\n"
        "    else:\n        os.wait()\n        print('parent')\n"
    )

    both(here, write(here, source))

    assert the_record(here).outcome.status == "ok"  # one record, by the parent alone


SLEEPER = (
    "import signal, sys, time\n"
    "if 'own' in sys.argv:\n    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
    "try:\n    print('ready', flush=True)\n    time.sleep(30)\nfinally:\n    print('cleaned', flush=True)\n"
)


@pytest.mark.parametrize(
    ("number", "words", "code", "out", "reason"),
    [
        (signal.SIGINT, (), 130, "cleaned\n", "stopped by Ctrl-C"),
        (signal.SIGTERM, (), 143, "", "the script was ended by SIGTERM"),
        (signal.SIGTERM, ("own",), 7, "cleaned\n", "the script ended itself with exit code 7"),
    ],
)
def test_signals_mean_what_they_mean_with_python(
    here: Path, number: int, words: tuple[str, ...], code: int, out: str, reason: str
) -> None:
    write(here, SLEEPER)
    process = subprocess.Popen(
        [*STEPTIME, "script.py", *words],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # no terminal: nobody but steptime passes the signal on
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    process.send_signal(number)
    rest, err = process.communicate(timeout=30)

    assert (process.returncode, rest) == (code, out)
    assert "steptime" not in err.partition("script  ")[0]
    assert the_record(here).outcome.reason == reason


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_script_dies_with_a_steptime_that_is_killed(here: Path) -> None:
    source = "import time\nprint('ready', flush=True)\ntime.sleep(60)\n"
    process = subprocess.Popen(
        [*STEPTIME, write(here, source)],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    process.kill()

    # The pipe ends when the script, which holds it too, has ended: long before its minute is over.
    assert process.communicate(timeout=30)[0] == ""


def test_calls_without_a_record_get_one_when_their_process_is_gone(here: Path) -> None:
    source = (
        "import os, signal\nfrom pathlib import Path\n"
        "(folder,) = Path('runs').glob('*/*')\n"
        "Path('go').write_text(str(folder))\n"
        "while not Path('killed').exists():\n    pass\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    process = subprocess.Popen([*STEPTIME, write(here, source)], cwd=here, stderr=subprocess.PIPE, text=True)
    while not (here / "go").exists() or not (here / "go").read_text():
        assert process.poll() is None
    script = here / (here / "go").read_text()
    plan, created = read_plan(script)
    call = create_call_folder(script, 1, plan, created)  # as a fit that goes on when the kill comes
    (here / "killed").touch()
    _, err = process.communicate(timeout=30)

    assert process.returncode == 128 + signal.SIGKILL
    assert "SIGKILL" in (read_record(call).outcome.reason or "")
    assert read_record(script).outcome.exit_code == 137
    assert "1 fit" in err


def test_with_json_stdout_holds_the_records_alone(here: Path) -> None:
    import json

    done = execute((*STEPTIME, "--json"), here, write(here, "print('talk of the script')\n"))

    assert json.loads(done.stdout)["script"]["outcome"]["status"] == "ok"
    assert "talk of the script" in done.stderr
