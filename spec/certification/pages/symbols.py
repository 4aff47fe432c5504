"""The symbols of formulas in docstrings: `sum_j dk[j] = 0`, one by one.

A formula is plain text in index form, with words between its parts. No library reads it: LaTeX and
AsciiMath, for which there are converters, know neither our words nor `x[t:u]`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Sort = Literal["number", "name", "prime", "sub", "sup", "sign"]

SORTS: tuple[tuple[Sort, str], ...] = (
    ("number", r"\d+(?:\.\d+)?"),
    ("name", r"[a-z]{3,}'s\b|[a-z]{2,}(?:-[a-z]{2,})+|[A-Za-z]+\d*"),
    ("prime", r"'+|\""),
    # The places of an entry without their underscore: _ij, _h,ij, _2i+1, _m'ij; or a bracket.
    ("sub", r"_(?=\()|_\d*[A-Za-z0-9]+(?:'[A-Za-z]+)*(?:,[A-Za-z]+)?(?:\+\d|'(?![A-Za-z(]))?"),
    ("sup", r"\^(?=\()|\^-?[A-Za-z0-9]+"),
    ("sign", r"\.\.\.?|…|<=|>=|!=|\+=|//|[=<>+\-/*,;:|()\[\]{}]"),
)
TOKEN = re.compile("|".join(f"(?P<{sort}>{pattern})" for sort, pattern in SORTS))

GREEK = {"theta": "θ", "lambda": "λ", "pi": "π", "sigma": "σ"}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "-": "−", "...": "…", "*": "·"}
DOTS = ("...", "..", "…")
SEPARATORS = (",", ";", ":")
PERMUTED = ("p", "t")  # orders and choices: o(q)_p(i) is the entry p(i)
RELATIONS = ("=", "<", ">", "<=", ">=", "!=", "+", "-", "*", "+=", "//")  # between two operands
OPERATORS = ("sum", "log", "exp", "ln", "softmax", "sin", "cos", "tanh", "max", "min", "mean", "fl")
NAMES = (*OPERATORS, "sqrt", "cap", "diag", "scale", "lse", "rate", "inf", "NaN", "PE", "Var")
# What a derivative is taken by: dq, dW1 and dquery are read as one, but "do" is a word as well.
DERIVED = re.compile(r"d(?:[abcdhkmopqstvwxyzKQVW]\d?|query|key|value|out|lse)")
FENCES = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", "|": "|"}


class Unclear(ValueError):
    """A formula that is not understood; the message says where."""


@dataclass(frozen=True)
class Token:
    """A symbol. before, after: whether a space is there; the ends of a formula count as spaces."""

    sort: Sort
    text: str
    before: bool
    after: bool

    @property
    def is_opening(self) -> bool:
        """Whether it opens a bracket: an angle or a bar does if no space follows."""
        return self.text in ("(", "[", "{") or (self.text in ("<", "|") and not self.after)

    @property
    def is_article(self) -> bool:
        """Whether it may be the English article, and not the weights."""
        return self.text == "a" and self.before and self.after


def tokens(formula: str) -> list[Token]:
    """The symbols of a line. Raises Unclear for a character of no symbol."""
    found, place = [], 0
    while place < len(formula):
        if formula[place] == " ":
            place += 1
            continue
        match = TOKEN.match(formula, place)
        if match is None or match.lastgroup is None:
            raise Unclear(f"{formula[place:]!r} begins with no symbol")
        end = match.end()
        before = place == 0 or formula[place - 1] == " "
        after = end == len(formula) or formula[end] == " "
        sort: Sort = match.lastgroup  # type: ignore[assignment]
        found.append(Token(sort, match[0], before, after))
        place = end
    return found


def is_word(token: Token, following: Token | None) -> bool:
    """Whether a name is an English word, by the symbol after it."""
    if token.sort != "name" or token.text in (*NAMES, *GREEK):
        return _reads_on(token, following)
    touches = following is not None and not following.before
    if touches and following is not None and following.text not in (",", ";", ":", ")", "]"):
        return False
    if token.is_article:
        return following is not None and following.sort == "name" and len(following.text) > 2
    if token.text == "do":
        return following is not None and following.text == "not"
    return len(token.text) > 1 and not token.text[-1].isdigit() and not is_derivative(token.text)


def _reads_on(token: Token, following: Token | None) -> bool:
    """Whether an operator's name continues as a sentence: mean of, sum over."""
    goes_on = following is not None and following.text in ("of", "over", "not")
    return token.sort == "name" and token.text in NAMES and goes_on


def is_derivative(name: str) -> bool:
    """Whether a name is the derivative of the loss by something: dq, dW1, dout."""
    return DERIVED.fullmatch(name) is not None
