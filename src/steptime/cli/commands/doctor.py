"""``steptime doctor``: is the GPU really used, and if not, why, and what exactly is to be done?"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.cli import output
from steptime.errors import UsageError

if TYPE_CHECKING:
    from steptime.environment.facts import Facts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--log", metavar="FILE", help="diagnose a log instead of this machine; - is standard input"
    )
    parser.add_argument(
        "--fact", metavar="KEY=VALUE", action="append", default=[],
        help="what you know, in your own words: platform, tensorflow, python, gpu, driver, cuda, ...; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--facts", metavar="FILE", help="diagnose facts that --save wrote, also on another machine"
    )
    parser.add_argument(
        "--save",
        metavar="FILE",
        help="save the facts, without personal data, for a colleague or a bug report",
    )
    parser.add_argument("--json", action="store_true", help="print the diagnosis as JSON")


def run(args: argparse.Namespace) -> int:
    """Diagnose, print, and return 0 when training can use what the machine has, 1 with a finding."""
    from steptime.diagnosis.environment import diagnose
    from steptime.diagnosis.pages import doctor_json, doctor_text
    from steptime.environment.facts import Facts, merge, to_json
    from steptime.environment.told import read_told

    lines = _log(args.log)
    live = args.log is None and args.facts is None and not args.fact
    facts = _live(quiet=args.json) if live else merge(_file(args.facts), read_told(lines, args.fact))
    if args.save:
        from steptime.environment.privacy import without_personal_data

        saved = without_personal_data(merge(facts, Facts(texts=lines)))
        _write(args.save, to_json(saved))
        output.say(f"saved to {args.save}, without personal data; read it before you pass it on")
    diagnosis = diagnose(facts, lines)
    output.out(
        doctor_json(diagnosis)
        if args.json
        else doctor_text(diagnosis, facts, live=args.log is None and not args.fact)
    )
    return int(any(not (live and finding.slow) for finding in diagnosis.findings))


def _live(*, quiet: bool) -> "Facts":
    from steptime.environment.read import read_first, read_tensorflow

    first = read_first()
    if first.get("tensorflow") and not quiet:
        output.say(f"asking TensorFlow {first.text('tensorflow')} itself; this takes some seconds")
    return read_tensorflow(first)


def _log(path: str | None) -> tuple[str, ...]:
    from steptime.environment.log import read_log

    if path is None:
        return ()
    return read_log(sys.stdin.buffer.read() if path == "-" else _read(path))


def _file(path: str | None) -> "Facts":
    from steptime.environment.facts import Facts, from_json

    return from_json(_read(path).decode("utf-8", errors="replace")) if path else Facts()


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"expected a file that can be read, received {path}: {error.strerror}",
            hint="give the path of the file",
        ) from None


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"expected a path that can be written, received {path}: {error.strerror}",
            hint="choose another folder",
        ) from None
