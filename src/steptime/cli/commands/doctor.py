"""``steptime doctor``: is the GPU really used, and if not, why, and what exactly is to be done?"""

import argparse
from typing import TYPE_CHECKING

from steptime.cli import output
from steptime.errors import UsageError

if TYPE_CHECKING:
    from steptime.environment.facts import Facts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("--log", metavar="FILE", help="diagnose a log instead of this machine; - is standard input")
    known = "what you know, in your own words: platform, tensorflow, python, gpu, driver, cuda, ...; can be repeated"
    add("--fact", metavar="KEY=VALUE", action="append", default=[], help=known)
    add("--facts", metavar="FILE", help="diagnose facts that --save wrote, also on another machine")
    add(
        "--workers", metavar="FILE", nargs="+",
        help="diagnose facts that --save wrote on each machine of a training: what differs between them",
    )  # fmt: skip
    add(
        "--save",
        metavar="FILE",
        help="save the facts, without personal data, for a colleague or a bug report",
    )
    add("--json", action="store_true", help="print the diagnosis as JSON")


def run(args: argparse.Namespace) -> int:
    """Diagnose and print.

    Returns:
        0 when training can use what the machine has, 1 with a finding. Findings that only make training slower
        leave it at 0 for this machine.
    """
    from steptime.diagnosis.environment import diagnose
    from steptime.diagnosis.pages import doctor_json, doctor_text
    from steptime.environment.facts import Facts, merge
    from steptime.environment.files import facts_text, read_facts_file, read_log_file
    from steptime.environment.told import read_told

    if args.workers:
        return _compare_workers(args)
    live = args.log is None and args.facts is None and not args.fact
    lines = read_log_file(args.log) if args.log else ()
    if live:
        facts = _read_this_machine(quiet=args.json)
    else:
        facts = merge(read_facts_file(args.facts) if args.facts else Facts(), read_told(lines, args.fact))
    if args.save:
        _save(args.save, facts_text(merge(facts, Facts(texts=lines))))
        output.say(f"saved to {args.save}, without personal data; read it before you pass it on")
    diagnosis = diagnose(facts, lines)
    output.out(doctor_json(diagnosis) if args.json else doctor_text(diagnosis, facts, live=args.log is None))
    return int(any(not (live and finding.slow) for finding in diagnosis.findings))


def _save(path: str, text: str) -> None:
    from pathlib import Path

    from steptime.errors import UsageError
    from steptime.record.files import write_bytes

    try:
        write_bytes(Path(path), text.encode())
    except OSError as error:
        raise UsageError(
            f"expected a path that can be written, received {path}: {error.strerror}",
            hint="choose another folder",
        ) from None


def _read_this_machine(*, quiet: bool) -> "Facts":
    from steptime.environment.read import read_first, read_tensorflow

    first = read_first()
    if first.get("tensorflow") and not quiet:
        output.say(f"asking TensorFlow {first.text('tensorflow')} itself; this takes some seconds")
    return read_tensorflow(first)


def _compare_workers(args: argparse.Namespace) -> int:
    """Say in what the machines of one training differ.

    Raises:
        UsageError: Fewer than two files, or arguments that are about one machine.
    """
    from steptime.diagnosis.environment import diagnose
    from steptime.diagnosis.pages import doctor_json, doctor_text
    from steptime.environment.facts import known
    from steptime.environment.files import read_facts_file
    from steptime.environment.several import differences

    if len(set(args.workers)) < 2 or args.log or args.facts or args.fact or args.save:
        raise UsageError(
            "--workers must name the facts of two machines or more, and stand alone.",
            hint="On each machine: steptime doctor --save NAME.json; then: steptime doctor --workers A.json B.json",
        )
    machines = {path: read_facts_file(path) for path in args.workers}
    facts = known({"workers_differ": differences(machines) or "none"}, "read there")
    diagnosis = diagnose(facts, ())
    output.out(doctor_json(diagnosis) if args.json else doctor_text(diagnosis, facts, live=False))
    return int(bool(diagnosis.findings))
