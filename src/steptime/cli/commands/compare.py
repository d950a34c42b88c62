"""``steptime compare``: several ways to train the same work, in turns, and an honest answer with pictures."""

import argparse
from pathlib import Path

from steptime.cli import options as shared
from steptime.cli import output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be said about a comparison."""
    parser.add_argument(
        "words", nargs="*", metavar="WORKLOAD | RUN RUN ...",
        help="what to train (default: mnist-cnn); or two or more runs that exist (repeats joined by commas); or the"
        " folder of an earlier comparison",
    )  # fmt: skip
    parser.add_argument(
        "--script",
        metavar="'SCRIPT ...'",
        help="compare a script that calls fit, with its arguments in the quotes",
    )
    parser.add_argument(
        "--arm", action="append", default=[], dest="arms", metavar="DEVICE[,KEY=VALUE ...]",
        help="one way to train, such as gpu,precision=mixed_float16; give two or more (default: Keras' own loop and"
        " steptime's, on the CPU and on each GPU)",
    )  # fmt: skip
    parser.add_argument("--baseline", metavar="ARM", help="compare with this arm (default: the first)")
    parser.add_argument("--target", metavar="METRIC=VALUE", help="time until then, such as val_accuracy=0.98")
    parser.add_argument("--repeats", type=int, metavar="N", help="runs of each arm, at least 2")
    parser.add_argument(
        "--time-budget", type=float, metavar="SECONDS", help="begin no round that would not end by then (180)"
    )
    parser.add_argument(
        "--allow-different", action="append", default=[], dest="allowed", metavar="KEY",
        help="compare although the arms differ in KEY without saying so",
    )  # fmt: skip
    shared.add_setting_options(parser)
    parser.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="end a single run that takes longer"
    )
    shared.add_runs_option(parser)
    form = parser.add_mutually_exclusive_group()
    shared.add_json_option(form)
    form.add_argument("--markdown", action="store_true", help="print Markdown, to be pasted into an issue")
    form.add_argument("--csv", action="store_true", help="print every quantity as CSV")


def run(options: argparse.Namespace) -> int:
    """Compare, write the report, and print the answer."""
    from steptime.cli import comparing
    from steptime.cli.grouping import EachItsOwn
    from steptime.record.store import writable
    from steptime.record.study import create_study_folder, write_study
    from steptime.report.files import write_page
    from steptime.report.pages.compare import compare_page

    folder = comparing.find_study(options, options.words)
    if folder is not None:
        study = comparing.take_up(options, folder)
    elif len(options.words) > 1:
        study = comparing.take_existing(options, options.words)
    else:
        folder, study = comparing.run_new(options, comparing.parse_work(options), EachItsOwn())
    comparison, runs = comparing.comparison_of(folder or Path(), study)
    comparing.refuse_unlike(comparison, study)
    folder = folder or create_study_folder(shared.runs_folder(options), comparing.STUDY_KIND)
    with writable(folder):
        write_study(folder, study)
        page = write_page(compare_page(comparison, study, runs), folder)
    comparing.show(options, folder, study, comparison, runs)
    output.say(f"report: {page}")
    if study.stop == "it was interrupted":
        return 130
    return 0 if all(facts.repeats for facts in comparison.arms) else 3
