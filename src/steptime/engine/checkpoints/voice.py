"""How a fit with checkpoints speaks: to whoever listens, and in the report."""

import warnings
from collections.abc import Callable


class Voice:
    """Collects what is said.

    Args:
        tell: Is told everything; without it, warnings become Python's.
    """

    def __init__(self, tell: Callable[[str], None] | None) -> None:
        self._tell = tell
        self.said: list[str] = []

    def say(self, text: str) -> None:
        """Something worth knowing."""
        self.said.append(text)
        if self._tell is not None:
            self._tell(text)

    def warn(self, text: str) -> None:
        """Something to act on; said once."""
        if text in self.said:
            return
        self.say(text)
        if self._tell is None:
            warnings.warn(text, stacklevel=2)
