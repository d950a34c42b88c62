"""The sizes and names that keep the code readable."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "steptime"
TESTS = ROOT / "tests"

FILE_LINES = 300
FUNCTION_LINES = 50  # without the docstring
PROTOCOL_METHODS = 5
# These say where something was put, not what it is.
BANNED_MODULE = re.compile(r"(^|_)(utils?|helpers?|common|misc|base|manager|handler)(_|$)")
BANNED_CLASS = re.compile(r"(Manager|Handler|Base|Helper|Util|Utils)$|^Base[A-Z]")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b|raise NotImplementedError")
# Tests against an independent implementation are about all modules of their folder.
ORACLE = "test_oracle_"
# Folders of tests/ that are about the program as a whole, not about one package.
WHOLE = {"contract", "scripts", "golden", "browser", "gpu", "data", "docs", "examples"}

SOURCES = sorted(PACKAGE.rglob("*.py"))


def nodes() -> Iterator[tuple[Path, ast.AST]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield path, node


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body:
        return 0
    return (function.end_lineno or 0) - body[0].lineno + 1


def is_method(node: ast.stmt) -> bool:
    """Properties are not counted: they are data."""
    return isinstance(node, ast.FunctionDef) and not any(
        isinstance(decorator, ast.Name) and decorator.id == "property" for decorator in node.decorator_list
    )


def test_there_are_sources_to_look_at() -> None:
    assert PACKAGE / "errors.py" in SOURCES


def test_no_file_is_longer_than_the_limit() -> None:
    files = [*SOURCES, *TESTS.rglob("*.py"), *(ROOT / "scripts").iterdir()]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in files}

    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES} == {}


def test_no_function_is_longer_than_the_limit() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {lines_of_code(node)} lines"
        for path, node in nodes()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of_code(node) > FUNCTION_LINES
    ]

    assert long == []


def test_no_protocol_asks_for_more_than_five_methods() -> None:
    wide = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path, node in nodes()
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)
        and sum(map(is_method, node.body)) > PROTOCOL_METHODS
    ]

    assert wide == []


def test_no_module_or_class_has_a_name_that_says_nothing() -> None:
    modules = [str(path.relative_to(ROOT)) for path in SOURCES if BANNED_MODULE.search(path.stem)]
    folders = [str(path.relative_to(ROOT)) for path in PACKAGE.rglob("*/") if BANNED_MODULE.search(path.name)]
    classes = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path, node in nodes()
        if isinstance(node, ast.ClassDef) and BANNED_CLASS.search(node.name)
    ]

    assert modules + folders + classes == []


def test_nothing_is_left_unfinished() -> None:
    unfinished = [
        f"{path.relative_to(ROOT)}:{number} {line.strip()}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if UNFINISHED.search(line)
    ]

    assert unfinished == []


def test_each_test_file_stands_where_its_module_stands() -> None:
    def mirrored(path: Path) -> bool:
        folder = PACKAGE / path.relative_to(TESTS).parent
        modules = [module.stem for module in folder.glob("*.py")] + [folder.name]
        names = (ORACLE, *(f"test_{module}_" for module in modules))
        return folder.is_dir() and f"{path.stem}_".startswith(names)

    files = [path for path in TESTS.rglob("test_*.py") if path.relative_to(TESTS).parts[0] not in WHOLE]

    assert [str(path.relative_to(ROOT)) for path in files if not mirrored(path)] == []


def test_each_package_has_tests() -> None:
    packages = [path.parent for path in PACKAGE.glob("*/__init__.py")]
    untested = [package.name for package in packages if not list((TESTS / package.name).rglob("test_*.py"))]

    assert untested == []
