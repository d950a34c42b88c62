"""Has a script's models and data looked at for mistakes, before and after each ``fit``."""

from pathlib import Path
from typing import Any

# A loop of a thousand calls must not pay a thousand times; what is wrong shows in the first of them.
_INSPECTED_CALLS = 8


class Inspection:
    """What was seen so far in this process.

    Attributes:
        problem: Why nothing is inspected any more; None while all goes well.
    """

    def __init__(self) -> None:
        self.problem: str | None = None
        self._past: Any = None
        self._calls = 0

    def before(self, model: Any, request: Any) -> Any:
        """Return facts of the model and of the data that a call is given; None when they are not gathered."""
        self._calls += 1
        if self.problem is not None or self._calls > _INSPECTED_CALLS:
            return None
        try:
            from steptime.engine.inspection import PastFits, gather

            if self._past is None:
                self._past = PastFits()
            return gather(model, request, past=self._past)
        except Exception as error:  # noqa: BLE001 - a lint must not end a script's training
            self.problem = f"model and data were not inspected: {error!r}"
            return None

    def after(self, facts: Any, model: Any, request: Any, folder: Path) -> None:
        """Complete the facts with what only a built model shows, and write them beside the call's record."""
        if self.problem is not None or self._past is None:
            return
        try:
            from steptime.engine.inspection import complete
            from steptime.record.model_facts import write_model_facts

            if facts is not None:
                write_model_facts(folder, complete(facts, model, request))
            self._past.note(model, request)
        except Exception as error:  # noqa: BLE001 - a lint must not end a script's training
            self.problem = f"model and data were not inspected: {error!r}"
