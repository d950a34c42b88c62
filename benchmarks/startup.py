"""Times how long a person waits for help: `steptime --help` and `steptime train --help` against `python -c
pass`.

usage: python benchmarks/startup.py [ROUNDS]

The commands take turns, so that a busy moment of the machine meets all of them; each gets the median of its
rounds (default 21). Run it on an idle machine with the Python that steptime is installed in. Exits with 1
if a help takes longer than the 150 ms that the project allows itself.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

LIMIT_S = 0.150
STEPTIME = Path(sys.executable).with_name("steptime")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "steptime --help": [STEPTIME, "--help"],
    "steptime train --help": [STEPTIME, "train", "--help"],
}


def wall_time_s(command: list[str | Path]) -> float:
    """The time from starting a command to its end."""
    start_ns = time.perf_counter_ns()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter_ns() - start_ns) / 1e9


def main(rounds: int) -> int:
    """Prints one line a command; returns the exit code."""
    for command in COMMANDS.values():  # the first start reads the disk and writes the bytecode cache
        wall_time_s(command)
    times_s: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            times_s[name].append(wall_time_s(command))

    print(f"{'command':<24}{'median':>10}{'fastest':>10}{'slowest':>10}   of {rounds}")
    for name, values in times_s.items():
        figures = [statistics.median(values), min(values), max(values)]
        print(f"{name:<24}" + "".join(f"{value * 1e3:>7.0f} ms" for value in figures))
    slow = [name for name, values in times_s.items() if statistics.median(values) > LIMIT_S]
    for name in slow:
        print(f"{name} is over {LIMIT_S * 1e3:.0f} ms")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 21))
