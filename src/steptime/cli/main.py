"""``steptime COMMAND``: finds the command, runs it, and turns errors into one line each and an exit code.

The modules of the commands are imported when they are called, so that help costs nothing.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

import steptime
from steptime.cli import output
from steptime.cli.options import Parser
from steptime.errors import SteptimeError, UsageError

# Command -> (module, what it does). The order is that of the help page.
COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("steptime.cli.commands.train", "train a workload and leave a record"),
    "resume": ("steptime.cli.commands.resume", "go on with an interrupted run, exactly where it was"),
    "run": (
        "steptime.cli.commands.run",
        "run a script that trains, unchanged, faster, measured and explained",
    ),
    "compare": (
        "steptime.cli.commands.compare",
        "train the same work in several ways, in turns, and say which is faster",
    ),
    "check": (
        "steptime.cli.commands.check",
        "look for mistakes in model, compile arguments and data, without training",
    ),
    "profile": (
        "steptime.cli.commands.profile",
        "say where each step's time goes, what bounds it, and what would help, by how much",
    ),
    "scale": (
        "steptime.cli.commands.scale",
        "say by arithmetic when a second GPU or machine pays",
    ),
    "runs": ("steptime.cli.commands.runs", "list what has been run"),
    "show": ("steptime.cli.commands.show", "print one record as a page"),
    "board": ("steptime.cli.commands.board", "open TensorBoard on the runs"),
    "doctor": (
        "steptime.cli.commands.doctor",
        "say whether the GPU is used, and if not, why and what to do",
    ),
    "new": ("steptime.cli.commands.new", "write a commented starter for a workload of your own"),
    "settings": ("steptime.cli.commands.settings", "list every setting with type, default and meaning"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 finding, 2 wrong use, 3 a run failed, 130 Ctrl-C."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(given)
    except SteptimeError as error:
        output.error(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        output.say("interrupted")
        return 130
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        output.close_quietly()
        return 0
    except OSError as error:  # a file or folder that no command expected to fail
        output.error(f"A file must be usable. Received: {error}", "Look at its path, owner and disk.")
        return UsageError.exit_code


def _run(given: list[str]) -> int:
    parser = Parser(prog="steptime", description=(steptime.__doc__ or "").partition("\n")[0])
    parser.add_argument("--version", action="version", version=f"steptime {steptime.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    chosen = next((word for word in given if not word.startswith("-")), None)
    for name, (module, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == chosen:
            import_module(module).add_arguments(command)
    options, unknown = parser.parse_known_args(given)
    chosen_module = import_module(COMMANDS[options.command][0])
    if unknown:
        raise UsageError(
            f"steptime {options.command}: unrecognized arguments: {' '.join(unknown)}",
            hint=getattr(
                chosen_module, "HINT", f"`steptime {options.command} --help` lists what can be said."
            ),
        )
    options.command_line = ("steptime", *given)
    return int(chosen_module.run(options))
