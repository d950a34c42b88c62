"""What is trained: a built-in job, a person's Python file, or an importable module."""

import ast
import difflib
import importlib.util
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from steptime.errors import UsageError

BUILT_IN: dict[str, str] = {
    "mnist-cnn": "steptime.workloads.mnist_cnn",
    "mnist-mlp": "steptime.workloads.mnist_mlp",
    "mnist-lstm": "steptime.workloads.mnist_lstm",
}
_STARTER_HINT = "`steptime new my_job.py` writes a commented starter that runs as it is."


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Where the model and the data come from.

    Attributes:
        name: What people call it: a built-in name, or the file's or module's own.
        kind: ``built-in``, ``file``, ``module``, or ``script``: a program that calls ``fit`` itself.
        target: A module name, or the absolute path of a file; of a script, its path as it was given.
        model_function: Name of the function that returns the Keras model.
        data_function: Name of the function that returns the data.
        compile_function: Name of the optional function that compiles the model.
        arguments: What follows a script on its command line.
    """

    name: str
    kind: str
    target: str
    model_function: str = "create_model"
    data_function: str = "load_data"
    compile_function: str = "compile_model"
    arguments: tuple[str, ...] = ()


def parse_workload(text: str) -> Workload:
    """Read ``mnist-cnn``, ``my_job.py``, ``package.module``, or any with ``:model[,data[,compile]]`` behind.

    Nothing is imported or run; a file is parsed to see that its functions are there.

    Raises:
        UsageError: No such built-in, file or module; a syntax error; a missing function or one that needs
            arguments.
    """
    target, names = _split(text)
    functions = _function_names(names, text)
    if target in BUILT_IN:
        return Workload(name=target, kind="built-in", target=BUILT_IN[target], **functions)
    if target.endswith(".py") or "/" in target or Path(target).is_file():
        path = Path(target)
        workload = Workload(name=path.stem, kind="file", target=str(path.absolute()), **functions)
        _check_source(_read_source(path), str(path), workload)
        return workload
    module = _find_module(target) if all(part.isidentifier() for part in target.split(".")) else None
    if module is not None:
        workload = Workload(name=target, kind="module", target=target, **functions)
        if module.origin and module.origin.endswith(".py"):
            _check_source(_read_source(Path(module.origin)), module.origin, workload)
        return workload
    near = difflib.get_close_matches(target, BUILT_IN, n=1)
    raise UsageError(
        f"The workload must be {', '.join(BUILT_IN)}, a Python file or a module. Received: {text!r}",
        hint=f"Did you mean {near[0]!r}?" if near else _STARTER_HINT,
    )


def _split(text: str) -> tuple[str, str]:
    """Split at the last colon, unless it belongs to a drive letter or a path."""
    head, colon, tail = text.rpartition(":")
    if not colon or "/" in tail or "\\" in tail:
        return text, ""
    return head, tail


def _function_names(names: str, text: str) -> dict[str, Any]:
    given = [name.strip() for name in names.split(",")] if names else []
    if len(given) > 3 or not all(name.isidentifier() for name in given):
        raise UsageError(
            f"Function names must be MODEL, MODEL,DATA or MODEL,DATA,COMPILE. Received: {text!r}",
            hint="For example: my_job.py:build_model,read_data",
        )
    return dict(zip(("model_function", "data_function", "compile_function"), given, strict=False))


def _find_module(name: str) -> ModuleSpec | None:
    """Find a module as the worker will: in the current folder first. No package on the way is imported."""
    first, *rest = name.split(".")
    try:
        spec = PathFinder.find_spec(first, [str(Path.cwd())]) or importlib.util.find_spec(first)
    except (ImportError, ValueError):
        return None
    full = first
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        full = f"{full}.{part}"
        spec = PathFinder.find_spec(full, list(spec.submodule_search_locations))
    return spec


def _read_source(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, [p.name for p in _siblings(path)], n=1)
        raise UsageError(
            f"The workload file must exist. Received: {str(path)!r}",
            hint=f"Did you mean {str(path.with_name(near[0]))!r}?" if near else _STARTER_HINT,
        ) from None
    except OSError as error:
        raise UsageError(
            f"The workload must be a readable Python file. Received: {str(path)!r} ({error.strerror})",
            hint=_STARTER_HINT,
        ) from None


def _siblings(path: Path) -> list[Path]:
    return list(path.parent.glob("*.py")) if path.parent.is_dir() else []


def _check_source(source: bytes, path: str, workload: Workload) -> None:
    try:
        with warnings.catch_warnings():
            # Python gives its advice on the source when the worker imports it; it belongs into worker.log.
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise UsageError(
            f"{path} must be valid Python. {f'Line {line}: ' if line else ''}{getattr(error, 'msg', error)}",
            hint="Mend that line." if line else _STARTER_HINT,
        ) from None
    functions, names, imports_all = _top_level(tree)
    for wanted in (workload.model_function, workload.data_function):
        if wanted in functions:
            _check_callable_without_arguments(functions[wanted], path)
        elif wanted not in names and not imports_all:
            near = difflib.get_close_matches(wanted, [*functions, *names], n=1)
            raise UsageError(
                f"{path} must define {wanted}(). It defines: {', '.join(functions) or 'no functions'}",
                hint=f"Name it {wanted}, or say {path}:{near[0]}." if near else _STARTER_HINT,
            )


def _top_level(tree: ast.Module) -> tuple[dict[str, ast.FunctionDef], set[str], bool]:
    """Return the functions, the other names, and whether a star import may bring more."""
    functions: dict[str, ast.FunctionDef] = {}
    names: set[str] = set()
    imports_all = False
    for node in _of_the_module(tree):
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = node
        elif isinstance(node, (ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names}
            imports_all |= any(alias.name == "*" for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return functions, names, imports_all


def _of_the_module(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those inside functions and classes, whose names are not the module's."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from _of_the_module(child)


def _check_callable_without_arguments(function: ast.FunctionDef, path: str) -> None:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = [item.arg for item in positional[: len(positional) - len(arguments.defaults)]]
    required += [
        item.arg
        for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    if required:
        raise UsageError(
            f"{function.name}() must be callable without arguments. "
            f"{path}:{function.lineno} needs: {', '.join(required)}",
            hint="Give each argument a default value.",
        )
