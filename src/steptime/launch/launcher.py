"""The seam between asking for a run and having its record."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from steptime.plan.plan import Plan
from steptime.record.schema import RunRecord

OnEvent = Callable[[dict[str, Any]], None]


class Launcher(Protocol):
    """Executes plans; ``steptime.testing`` has one that needs no process."""

    def launch(self, plan: Plan, folder: Path, on_event: OnEvent) -> RunRecord:
        """Execute ``plan`` in the run folder and return its record, however the run ended.

        Args:
            plan: With its placement decided.
            folder: The run folder, with ``plan.json`` in it.
            on_event: Called for each event of the worker as it arrives.
        """
