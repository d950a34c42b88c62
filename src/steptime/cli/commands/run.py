"""``steptime run``: a script that trains, unchanged, faster, measured and explained."""

import argparse
from typing import TYPE_CHECKING, Any

from steptime.cli import options as shared
from steptime.cli import output

if TYPE_CHECKING:
    from steptime.plan.settings import Settings
    from steptime.report.pages.script import Advice

_FLAGS = ("device", "loop", "name")
HINT = "The script's own arguments follow its name: steptime run SCRIPT ARGUMENTS. `steptime run --help` lists ours."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be said about a script."""
    shared.add_setting_options(parser, _FLAGS)
    shared.add_runs_option(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the records as JSON on stdout, and nothing else there: what the script prints goes to stderr",
    )
    parser.add_argument(
        "script", metavar="SCRIPT", help="a Python file, or a notebook if nbconvert is installed"
    )
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="the script's own arguments"
    )


def run(options: argparse.Namespace) -> int:
    """Run the script, then say what was measured; the exit code is the script's."""
    from concurrent.futures import ThreadPoolExecutor

    from steptime.cli.placing import place
    from steptime.device.find import find_gpus
    from steptime.launch.placement import cpu_only_build
    from steptime.launch.script import ScriptLauncher
    from steptime.plan.plan import Plan
    from steptime.plan.script import parse_script
    from steptime.record.store import create_run_folder
    from steptime.record.study import create_study_folder

    workload = parse_script(options.script, _arguments_of_the_script(options))
    settings = _settings(options)
    plan = Plan(
        workload=workload,
        settings=settings,
        placement=place(settings.device, find_gpus(), cpu_only_build()),
        command=options.command_line,
    )
    study = create_study_folder(shared.runs_folder(options), "run")
    folder = create_run_folder(study.parent, study.name, plan)
    with ThreadPoolExecutor(max_workers=1) as meanwhile:
        # Nobody waits for it: the script imports TensorFlow in the same seconds.
        machine = meanwhile.submit(_look_around)
        record = ScriptLauncher(own_stdout=not options.json).launch(plan, folder, _show)
    from steptime.cli.scripts import finish

    finish(record, folder, machine.result, as_json=options.json)
    if record.outcome.hint:  # steptime itself could not do what was asked
        output.error(record.outcome.reason or "the script failed", record.outcome.hint)
    return record.outcome.exit_code


def _arguments_of_the_script(options: argparse.Namespace) -> tuple[str, ...]:
    """Return all words behind the script's name; argparse takes a ``--`` right behind it for its own."""
    words, rest = options.command_line, tuple(options.arguments)
    behind = len(words) - len(rest) - 1
    if words[behind - 1 : behind + 1] == (options.script, "--"):
        return ("--", *rest)
    return rest


def _look_around() -> "tuple[Advice, ...]":
    import steptime.report.render.html  # noqa: F401 - the end of the script need not wait for this import either
    from steptime.cli.scripts import machine_findings

    return machine_findings()


def _settings(options: argparse.Namespace) -> "Settings":
    from steptime.plan.script import check_script_settings, keep_script_settings
    from steptime.plan.settings import parse_pairs

    check_script_settings(parse_pairs(options.pairs, "--set"), "--set")
    # A project's file is about its workloads too: what a script decides itself is passed over there.
    return keep_script_settings(shared.read_settings(options))


def _show(event: dict[str, Any]) -> None:
    if event["kind"] == "note":
        output.say(f"steptime: {output.one_line(str(event['text']))}")
