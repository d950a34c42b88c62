"""The report of a comparison in a real browser: quiet, complete in itself, readable on a phone and on a desk."""

import dataclasses
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from steptime.cli.main import main
from steptime.plan.settings import change
from steptime.record.ceilings import CEILINGS_FILE, write_ceilings
from steptime.record.operations import write_operations
from steptime.record.profile import write_profile
from steptime.record.store import create_run_folder, write_record
from steptime.testing import (
    FakeLauncher,
    make_ceilings,
    make_operations,
    make_plan,
    make_profile,
    make_record,
    make_run,
)

pytestmark = pytest.mark.browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (400, 1400)

# A window of a desktop browser cannot be as narrow as a phone, but a frame can.
FRAME = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><style>body{{margin:0}}</style>
<iframe id="page" src="{page}" style="width:{width}px;height:900px;border:0"></iframe>
<script>
onload = () => {{
  const doc = document.getElementById("page").contentDocument, view = doc.defaultView;
  const boxes = (selector) => [...doc.querySelectorAll(selector)].map((item) => item.getBoundingClientRect());
  const wide = [...doc.querySelectorAll("main *")].filter((item) => !item.closest(".scroll, pre, svg"))
    .filter((item) => item.getBoundingClientRect().right > doc.documentElement.clientWidth + 1);
  const texts = [...doc.querySelectorAll("svg text")].map((item) => item.getBoundingClientRect().height);
  const result = {{
    title: doc.querySelector("h1").textContent,
    headings: [...doc.querySelectorAll("h2")].map((item) => item.textContent),
    overflow: doc.documentElement.scrollWidth - doc.documentElement.clientWidth,
    wide: wide.map((item) => item.outerHTML.slice(0, 80)),
    charts: boxes("figure svg").map((box) => [box.width, box.height]),
    columns: new Set(boxes("figure").map((box) => Math.round(box.left))).size,
    smallest: Math.min(...texts),
    verdicts: [...doc.querySelectorAll(".pill")].map((item) => item.textContent),
    paper: view.getComputedStyle(doc.body).backgroundColor,
  }};
  const out = document.createElement("pre");
  out.id = "result";
  out.textContent = JSON.stringify(result);
  document.body.append(out);
}};
</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report as the command writes it, from runs of two arms."""
    runs = tmp_path_factory.mktemp("runs")
    words = []
    for loop, step_s in (("keras", 0.015), ("graph", 0.008)):
        folders = []
        for repeat in range(2):
            plan = make_plan(epochs=2, loop=loop, seed=repeat)
            plan = dataclasses.replace(plan, settings=change(plan.settings, {"name": loop}, "test"))
            folder = create_run_folder(runs, "train", plan)
            FakeLauncher(make_run(make_record(plan), step_s=step_s, seed=repeat)).launch(
                plan, folder, lambda event: None
            )
            folders.append(str(folder))
        words.append(",".join(folders))
    assert main(["compare", *words, "--runs", str(runs), "--target", "accuracy=0.97"]) == 0
    (report,) = runs.glob("compare-*/report.html")
    return report


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile as the command writes it."""
    plan = make_plan(epochs=2)
    folder = create_run_folder(tmp_path_factory.mktemp("runs"), "profile", plan)
    write_record(folder, make_record(plan))
    write_profile(folder, make_profile())
    write_operations(folder, make_operations())
    write_ceilings(folder / CEILINGS_FILE, make_ceilings())
    assert main(["profile", str(folder)]) == 0
    return folder / "report.html"


def browse(page: Path, folder: Path, width: int, *flags: str) -> tuple[dict[str, Any], str, set[str]]:
    """Open the page in a frame; return what was seen, what the console said, and what was requested."""
    if CHROMIUM is None:
        pytest.fail("the browser tests were asked for, but no Chromium is on PATH")
    frame, log = folder / "frame.html", folder / "net.json"
    frame.write_text(FRAME.format(page=page.as_uri(), width=width), encoding="utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
        "--allow-file-access-from-files", "--enable-logging=stderr", f"--log-net-log={log}",
        f"--user-data-dir={folder / 'profile'}", "--window-size=1500,1000", "--virtual-time-budget=10000",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        *flags, "--dump-dom", frame.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    match = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, done.stderr[-2000:]
    seen = json.loads(match.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return seen, console, requests_of_pages(log)


def requests_of_pages(log: Path) -> set[str]:
    """What pages asked for; what the browser itself wants from its makers has no origin."""
    events = json.loads(log.read_text(encoding="utf-8", errors="replace"))["events"]
    parameters = (event.get("params", {}) for event in events)
    urls = {
        item["url"]
        for item in parameters
        if "url" in item and item.get("initiator") not in (None, "not an origin")
    }
    return {url for url in urls if not url.startswith(("file:", "data:"))}


def test_the_probe_sees_requests_and_messages(tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text(
        "<h1>x</h1><img src='http://picture.invalid/x.png'><script>console.error('oh')</script><svg><text>t</text></svg>"
    )

    _, console, requested = browse(page, tmp_path, 400)

    assert "oh" in console
    assert requested == {"http://picture.invalid/x.png"}


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_quiet_complete_and_fits(page: Path, tmp_path: Path, width: int) -> None:
    seen, console, requested = browse(page, tmp_path, width)

    assert console == ""
    assert requested == set()
    assert seen["title"].endswith(".")
    assert {"At a glance", "Every quantity", "How it was measured", "Repeat it"} <= set(seen["headings"])
    assert "faster" in seen["verdicts"]
    assert seen["overflow"] <= 0
    assert seen["wide"] == []
    assert len(seen["charts"]) >= 4
    assert all(300 <= chart[0] <= 620 and chart[1] > 150 for chart in seen["charts"])
    # Text in a chart must be legible: about 8 pixels of type or more.
    assert seen["smallest"] >= 9
    assert seen["columns"] == (1 if width == 400 else 2)


def test_the_page_turns_dark_where_the_reader_s_screen_is(page: Path, tmp_path: Path) -> None:
    light, _, _ = browse(page, tmp_path, 1400)
    dark, console, _ = browse(page, tmp_path, 1400, "--force-dark-mode")

    assert console == ""
    assert light["paper"] == "rgb(246, 247, 249)"
    assert dark["paper"] == "rgb(17, 21, 27)"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_of_a_profile_is_quiet_complete_and_fits(profile: Path, tmp_path: Path, width: int) -> None:
    seen, console, requested = browse(profile, tmp_path, width)

    assert console == ""
    assert requested == set()
    assert {"What would help", "The step in parts", "Operations", "Layers"} <= set(seen["headings"])
    assert seen["overflow"] <= 0
    assert seen["wide"] == []
    assert len(seen["charts"]) >= 3
    assert seen["smallest"] >= 9
