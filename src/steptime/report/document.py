"""A page before it has a format: headings, paragraphs and tables, in order."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """The title of a section."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A paragraph, or one line."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text under column names; empty names make a list of pairs.

    Attributes:
        columns: Column names; all of them empty for a table without a head.
        rows: Cells, as text for people.
        right: Numbers of the columns that hold quantities and are set to the right.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()


Part = Heading | Text | Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page: a title (may be empty) and its parts."""

    title: str
    parts: tuple[Part, ...]
