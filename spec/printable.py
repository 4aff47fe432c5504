"""Text that comes from a target, made safe to print in a terminal and on a page.

A target chooses its name and the texts of its errors. A line end in such a text would add lines to
a report, and an escape code would move the reader's cursor.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from operator import is_
from typing import Any

OF_LINES = ("script", "formula")  # fields of records whose text may have several lines


def printable(text: str, kept: str = "") -> str:
    r"""The text with each unprintable character written as Python writes it: `\n`, `\x1b`.

    kept: characters that stay as they are.
    """
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() or x in kept else repr(x)[1:-1] for x in text)


def all_printable(x: Any) -> Any:
    """The same records, tuples and mappings, with all text inside them printable.

    An object in which nothing changes is returned itself, as some are compared by identity.
    """
    if isinstance(x, str):
        return printable(x)
    if x is None or isinstance(x, int | float):
        return x
    if isinstance(x, tuple):
        shown = tuple(map(all_printable, x))
        return x if all(map(is_, shown, x)) else shown
    if isinstance(x, Mapping):
        words = {all_printable(name): all_printable(value) for name, value in x.items()}
        same = len(words) == len(x) and all(x.get(name) is y for name, y in words.items())
        return x if same and type(x) is dict else words  # another class may change its answers
    return _record(x) if is_dataclass(x) and not isinstance(x, type) else x


def _record(record: Any) -> Any:
    """A record whose text is printable."""
    held = {field.name: getattr(record, field.name) for field in fields(record) if field.init}
    shown = {
        name: printable(x, "\n") if name in OF_LINES and isinstance(x, str) else all_printable(x)
        for name, x in held.items()
    }
    same = all(x is held[name] for name, x in shown.items())
    return record if same else replace(record, **shown)
