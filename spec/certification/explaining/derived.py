"""Arrays that know how they were computed, so that the steps of a clause can be written down.

    masks = np.stack([first != 0, second != 0])         of arrays with these names
    masks.mean()     is   np.stack([first != 0, second != 0]).mean()

Otherwise each is an ordinary array. Functions of NumPy, operators and the methods here are
recorded. After any other step the record is lost, also for all that is computed from the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.backends import Unsuitable
from spec.certification.explaining.looping import as_list
from spec.notation import Array
from spec.written import literal

SIGNS = {
    **{"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**", "matmul": "@"},
    **{"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">"},
    **{"greater_equal": ">=", "bitwise_and": "&", "bitwise_or": "|", "invert": "~"},
}
METHODS = ("mean", "sum", "any", "all", "max", "min", "swapaxes", "reshape", "astype")


@dataclass(frozen=True, eq=False)
class Words:
    """Source text in pieces; a piece that occurs several times is one object.

    several: the pieces are the members of a list.
    """

    pieces: tuple[str | Words, ...]
    several: bool = False


class Derived(np.ndarray[Any, Any]):
    """An array, and the text that computes it; None if that is lost."""

    words: Words | None

    def __array_finalize__(self, _: Any) -> None:
        self.words = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        made = getattr(ufunc, method)(*map(_plain, inputs), **_plain(kwargs))
        for x in kwargs.get("out", ()):
            x.words = None
        if method != "__call__" or "out" in kwargs:
            return _derived(made, _lost)
        return _derived(made, lambda: _operation(ufunc.__name__, inputs, kwargs))

    def __array_function__(self, function: Any, _: Any, given: Any, more: Any) -> Any:
        made = function(*_plain(given), **_plain(more))
        return _derived(made, lambda: _called(f"np.{function.__name__}", given, more))

    def __getitem__(self, at: Any) -> Any:
        return _derived(_plain(self)[_plain(at)], lambda: (_words(self), "[", _entries(at), "]"))

    def __setitem__(self, at: Any, x: Any) -> None:
        super().__setitem__(_plain(at), _plain(x))
        self.words = None


def _method(name: str) -> Callable[..., Any]:
    def called(x: Derived, *given: Any, **more: Any) -> Any:
        made = getattr(_plain(x), name)(*_plain(given), **_plain(more))
        return _derived(made, lambda: (_words(x), *_called(f".{name}", given, more)))

    return called


for _name in METHODS:
    setattr(Derived, _name, _method(_name))


def named(x: Array, name: str) -> Derived:
    """An array with this name."""
    made = np.array(x).view(Derived)
    made.words = Words((name,))
    return made


def written(**values: Any) -> list[str]:
    """The lines that compute values, by name; a piece that is needed twice has its own line.

    Raises Unsuitable if the record of one is lost.
    """
    ends = {name: _words(x) for name, x in values.items()}
    uses: Counter[int] = Counter()
    for words in ends.values():
        _count(words, uses)
    lines: list[str] = []
    names: dict[int, str] = {}
    for name, words in ends.items():
        lines.append(f"{name} = {_bare(_said(words, uses, names, lines))}")
    return lines


def leaves(*values: Any) -> set[str]:
    """The pieces of text of which the source of some values consists."""
    found, seen = set[str](), set[int]()
    left = [_words(x) for x in values]
    while left:
        words = left.pop()
        found |= {x for x in words.pieces if isinstance(x, str)}
        new = {id(x): x for x in words.pieces if isinstance(x, Words) and id(x) not in seen}
        seen |= new.keys()
        left += new.values()
    return found


def _count(words: Words, uses: Counter[int]) -> None:
    uses[id(words)] += 1
    for piece in words.pieces if uses[id(words)] == 1 else ():
        if isinstance(piece, Words):
            _count(piece, uses)


def _said(words: Words, uses: Counter[int], names: dict[int, str], lines: list[str]) -> str:
    """A text, after the lines of pieces that also occur elsewhere."""
    if id(words) in names:
        return names[id(words)]
    each = [x if isinstance(x, str) else _said(x, uses, names, lines) for x in words.pieces]
    text = as_list([_bare(x) for x in each]) if words.several else _joined(each)
    if uses[id(words)] > 1 and len(words.pieces) > 1:
        names[id(words)] = f"x_{len(names) + 1}" if names else "x"
        lines.append(f"{names[id(words)]} = {_bare(text)}")
        return names[id(words)]
    return text


def _joined(pieces: Sequence[str]) -> str:
    """Pieces as one text, without parentheses for a piece that fills a pair of brackets."""
    inside = [
        before.endswith(("(", "[", ", ", "=")) and after.startswith((")", "]", ", "))
        for before, after in zip(["", *pieces], [*pieces[1:], ""], strict=False)
    ]
    each = zip(pieces, inside, strict=True)
    return "".join(_bare(x) if alone else x for x, alone in each)


def _bare(text: str) -> str:
    """A text without the parentheses around all of it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return text[1:-1] if place and place == len(text) - 1 and text[0] == "(" else text
    return text


def _plain(x: Any) -> Any:
    """The same value without its record."""
    if isinstance(x, Derived):
        return x.view(np.ndarray)
    if isinstance(x, Mapping):
        return {name: _plain(each) for name, each in x.items()}
    return type(x)(map(_plain, x)) if type(x) in (tuple, list) else x


def _derived(made: Any, how: Callable[[], Sequence[str | Words]]) -> Any:
    if isinstance(made, tuple | list):
        return type(made)([_derived(x, _lost) for x in made])
    if not isinstance(made, np.ndarray | np.generic):
        return made
    array = np.asarray(made).view(Derived)
    try:
        array.words = Words(tuple(how()))
    except Unsuitable:
        array.words = None
    return array


def _lost() -> list[str | Words]:
    raise Unsuitable("it is lost how an array came about")


def _operation(name: str, given: Sequence[Any], more: Mapping[str, Any]) -> list[str | Words]:
    sign = "" if more else SIGNS.get(name, "")
    if not sign:
        return _called(f"np.{name}", given, more)
    first, *rest = map(_words, given)
    return ["(", first, f" {sign} ", rest[0], ")"] if rest else [f"({sign}", first, ")"]


def _called(name: str, given: Sequence[Any], more: Mapping[str, Any]) -> list[str | Words]:
    words: list[str | Words] = []
    for label, x in (*(("", x) for x in given), *((f"{n}=", x) for n, x in more.items())):
        words += [", ", label, _words(x)]
    return [f"{name}(", *words[1:], ")"]


def _entries(at: Any) -> Words:
    """An index as text: numbers, slices and arrays of them."""
    if isinstance(at, np.ndarray) and at.dtype.kind == "i" and not isinstance(at, Derived):
        return Words((str(at.tolist()),))
    if not isinstance(at, tuple):
        return _words(at)
    words = [piece for x in at for piece in (", ", _entries(x))]
    return Words(tuple(words[1:]))


def _words(x: Any) -> Words:
    """Any value as text. Raises Unsuitable if it has none."""
    if isinstance(x, Derived):
        return Words((*_lost(),)) if x.words is None else x.words
    if isinstance(x, tuple | list):
        return Words(tuple(map(_words, x)), several=True)
    return Words((_constant(x),))


def _constant(x: Any) -> str:
    if isinstance(x, slice):
        ends = [*(("" if e is None else str(e)) for e in (x.start, x.stop, x.step))]
        return ":".join(ends).removesuffix(":") if x.step is None else ":".join(ends)
    if x is Ellipsis:
        return "..."
    if isinstance(x, np.ndarray):
        return literal(x)
    if isinstance(x, type):
        return x.__name__ if x in (bool, int, float) else f"np.{x.__name__}"
    if x is None or isinstance(x, bool | int | float | np.generic):
        return repr(x).replace("inf", "np.inf").replace("nan", "np.nan")
    raise Unsuitable(f"{type(x).__name__} is not written out")
