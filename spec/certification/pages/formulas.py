"""The formulas of clauses as mathematics: MathML between words, or unchanged text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from xml.etree.ElementTree import Element, tostring

from spec.certification.pages.elements import holding
from spec.certification.pages.reading import read
from spec.certification.pages.symbols import SEPARATORS, Token, Unclear, is_word, tokens

APART = re.compile(r" {2,}(?!=)")  # between statements that stand side by side


@cache
def formula(text: str) -> str:
    """A formula as HTML, line by line; unchanged text if it is not understood."""
    try:
        return "".join(f'<div class="line">{_line(line)}</div>' for line in text.splitlines())
    except Unclear:
        return f"<pre>{escape(text)}</pre>"


def is_clear(text: str) -> bool:
    """Whether a formula is understood."""
    return "<pre>" not in formula(text)


def _line(text: str) -> str:
    """Statements in a row, which may be set one below the other if the page is narrow."""
    return " ".join(f'<span class="statement">{_statement(x)}</span>' for x in APART.split(text))


def _statement(text: str) -> str:
    """Words as text, which wraps, and the parts between them as mathematics."""
    return " ".join(
        escape(_spelled(part)) if words else _mathematics(part)
        for words, part in _parts(tokens(text))
    )


def _parts(symbols: Sequence[Token]) -> Iterator[tuple[bool, list[Token]]]:
    """Yield runs of symbols that are all words, or no words. A pair of brackets is one unit."""
    depth, run, words = 0, list[Token](), False
    for place, token in enumerate(symbols):
        now = not depth and _is_prose(symbols, place, words)
        if run and now != words:
            yield words, run
            run = []
        words = now
        run.append(token)
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
    if run:
        yield words, run


def _is_prose(symbols: Sequence[Token], place: int, words: bool) -> bool:
    """Whether a symbol outside of brackets is a word, or a comma after one."""
    token, following = symbols[place], symbols[place + 1 : place + 2]
    after = following[0] if following else None
    if token.text == "implies" or (token.text == "in" and after and after.text == "{"):
        return False
    if token.text == "in" and after and after.sort == "number":
        return False
    return (token.text in SEPARATORS and words) or is_word(token, after)


def _spelled(symbols: Sequence[Token]) -> str:
    """Words as text."""
    return "".join(
        " " * (token.before and place > 0) + token.text for place, token in enumerate(symbols)
    )


def _mathematics(symbols: Sequence[Token]) -> str:
    math: Element = holding("math", *read(symbols), displaystyle="true")
    return tostring(math, encoding="unicode", short_empty_elements=False)
