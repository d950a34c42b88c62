"""Calls a function right after a module was imported for the first time, by whoever imports it.

Nothing is imported before the script does it itself: what a script sets before ``import tensorflow`` (variables, a
backend, a random seed) must work as with ``python``.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

AfterImport = Callable[[ModuleType], None]


class ImportWatch:
    """A finder for ``sys.meta_path`` that finds nothing itself: it only times some modules and tells of them.

    Args:
        after: Name of a module -> what is called with it once its own code has run.
    """

    def __init__(self, after: Mapping[str, AfterImport]) -> None:
        self._after = dict(after)
        self._searching: set[str] = set()
        self._depth = 0
        self.import_ns = 0

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Listen to imports inside."""
        sys.meta_path.insert(0, self)
        try:
            yield
        finally:
            with contextlib.suppress(ValueError):  # a script may rebuild the list
                sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Ask the other finders, and wrap the loader of a module that is waited for."""
        if name not in self._after or name in self._searching:
            return None
        self._searching.add(name)
        try:
            spec = _find(self, name, path, target)
        finally:
            self._searching.discard(name)
        if spec is not None and spec.loader is not None:
            self._wrap(name, spec.loader)
        return spec

    def _wrap(self, name: str, loader: object) -> None:
        execute: Callable[[ModuleType], None] = loader.exec_module  # type: ignore[attr-defined]

        def timed(module: ModuleType) -> None:
            del loader.exec_module  # type: ignore[attr-defined]  # the loader is as before, also for a reload
            begin_ns = time.perf_counter_ns()
            self._depth += 1
            try:
                execute(module)
            finally:
                self._depth -= 1
                if not self._depth:  # tensorflow imports keras, or the other way round: time counts once
                    self.import_ns += time.perf_counter_ns() - begin_ns
            # Who only asks where a module is gets a loader too, so that it is the import that counts.
            self._after.pop(name, _nothing)(module)

        with contextlib.suppress(AttributeError):  # a loader that cannot be wrapped goes unnoticed
            loader.exec_module = timed  # type: ignore[attr-defined]


def _nothing(module: ModuleType) -> None:
    """What follows an import that was told of before."""


def _find(
    watch: ImportWatch, name: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in sys.meta_path:
        if finder is watch:
            continue
        spec = finder.find_spec(name, path, target)
        if spec is not None:
            return spec
    return None
