"""Sentences about problems: words and comparisons of sizes, joined by "and", "or" and "not".

    causal and N < M        not (an idle query) or float64        M > 128 and M % 8 != 0

Such a sentence describes a set of problems: where a target is wrong, or where it is to be tested.
Each kind of subject has its own words, and the letters of its axes stand for sizes. `=` and `==`
mean the same, and `no mask` is `not a mask`. A word with " asked for" is the name of a function.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any

from spec import noticed
from spec.notation import DTYPES, HALF, Posed
from spec.noticed import MULTIPLES, SIZES, THRESHOLDS, Comparison
from spec.written import letters, optional

Feature = Callable[[Any], object]  # takes a problem
Test = Callable[[Any, str], bool]  # takes a problem, and the called function in words

COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}
CONTRARY = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "=": "!=", "==": "!=", "!=": "="}
COMPARISON = re.compile(r"([A-Z]) *(?:% *(\d+) *)?([<>]=?|==?|!=) *([A-Z]|\d+)")
TOKEN = re.compile(r"\(|\)|\b(?:and|or|not)\b")
IS_NO = " is no "
ASKED = " asked for"  # ends a word that names a function
NOTICED = 8.0  # what another size has to explain: there are hundreds, and this one failed


def _of_format(dtype: str, problem: Posed) -> bool:
    return problem.dtype == dtype


def _given(name: str, problem: Any) -> bool:
    return getattr(problem, name) is not None


def _other(name: str, usual: Any, problem: Any) -> bool:
    return bool(getattr(problem, name) != usual)


FORMATS: Mapping[str, Feature] = {
    **{dtype: partial(_of_format, dtype) for dtype in DTYPES},
    "16 bits": lambda p: p.dtype in HALF,
}


def said_by(problem: Any) -> Mapping[str, Feature]:
    """A word for each option of a class of problems: it is set, or differs from its default."""
    found: dict[str, Feature] = {}
    for name, usual in optional(problem):
        if usual is None:
            found[f"a given {name}"] = partial(_given, name)
        elif isinstance(usual, bool):
            found[name] = operator.attrgetter(name)
        else:
            found[f"another {name}"] = partial(_other, name, usual)
    return found


def of_class(problem: Any) -> "Vocabulary":
    """The words for a class of problems without special words: options, formats, lengths."""
    return Vocabulary({**said_by(problem), **FORMATS}, "".join(letters(problem)))


@dataclass(frozen=True)
class Vocabulary:
    """The words for problems of a kind, and the letters of its sizes.

    words: each word with its test. letters: of axes. pairs: axes whose lengths are worth comparing.
    frequent: words that hold for so many problems that they must explain more to be named.
    positive: words that may explain a failure, while their absence explains none.
    noticed: further candidates, each a letter, a sign and a number.
    """

    words: Mapping[str, Feature]
    letters: str
    pairs: tuple[tuple[str, str], ...] = ()
    frequent: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    noticed: tuple[Comparison, ...] = ()

    def test(self, atom: str) -> Test:
        """The test of a word or a comparison. Raises ValueError if it is neither."""
        atom = " ".join(atom.split())
        if atom in self.words:
            word = self.words[atom]
            return lambda problem, _: bool(word(problem))
        for article in ("a", "an"):
            if atom.startswith("no ") and f"{article} {atom[3:]}" in self.words:
                absent = self.words[f"{article} {atom[3:]}"]
                return lambda problem, _: not absent(problem)
        if (contrary := atom.replace(" is a ", IS_NO)) in self.words:
            return lambda problem, _: not self.words[contrary](problem)
        if atom.endswith(ASKED):
            function = atom.removesuffix(ASKED)
            without = {f"{article} {function[3:]}" for article in ("a", "an")}
            if function.startswith("no "):
                return lambda _, asked: asked not in without
            return lambda _, asked: is_part(asked, function)
        found = COMPARISON.fullmatch(atom)
        if not found or not {*"".join(x for x in found.groups() if x and x.isalpha())} <= {
            *self.letters
        }:
            raise ValueError(f"{atom!r} is no condition{self._alike(atom)}")
        one, divisor, sign, other = found.groups()
        compare, modulus = COMPARED[sign], int(divisor or 0)

        def compared(problem: Any, _: str) -> bool:
            size = getattr(problem, one)
            limit = int(other) if other.isdigit() else getattr(problem, other)
            return compare(size % modulus if modulus else size, limit)

        return compared

    def _alike(self, atom: str) -> str:
        """The likeliest words, in a question, and where all of them are listed."""
        found = " or ".join(map(repr, get_close_matches(atom, self.words, n=3, cutoff=0.5)))
        meant = f"; did you mean {found}?" if found else ""
        sizes = f"sizes are compared as in {self.letters[-1]} > 16, of {', '.join(self.letters)}"
        return f"{meant}; `attention-spec list conditions` prints all words; {sizes}"

    def candidates(self) -> dict[str, float]:
        """The features that may separate problems, and how much each has to explain to be named.

        In nats. For a word this is about the logarithm of the number of words. Less usual
        statements, such as that something is absent, have to explain more.
        """
        found = {word: 8.0 if word in self.frequent else 4.0 for word in self.words}
        found |= {negated(word): 6.0 for word in self.words if word not in self.positive}
        for one, other in self.pairs:  # slightly more than a length: it is simpler
            found |= {f"{one} {sign} {other}": 5.1 for sign in ("<", ">", "!=")}
            found[f"{one} = {other}"] = 6.1
        for letter in self.letters:
            found |= {f"{letter} > {size}": 5.0 for size in THRESHOLDS}
            found |= {f"{letter} = {size}": 6.5 for size in SIZES}
            found |= {f"{letter} % {size} {s} 0": 6.5 for size in MULTIPLES for s in ("=", "!=")}
        return found | {" ".join(map(str, compared)): NOTICED for compared in self.noticed}

    def noticing(self, problem: Any) -> "Vocabulary":
        """The same vocabulary with the sizes of a problem that fails as last candidates."""
        new = noticed.noticed(self.letters, problem)
        return replace(self, noticed=(*self.noticed, *(x for x in new if x not in self.noticed)))

    def said(self, problem: Any) -> list[bool]:
        """Which of the candidates hold for a problem, in their order; each word is tested once."""
        words = {word: bool(test(problem)) for word, test in self.words.items()}
        found = [*words.values()]
        found += [not holds for word, holds in words.items() if word not in self.positive]
        sizes = {letter: getattr(problem, letter) for letter in self.letters}
        for one, other in ((sizes[a], sizes[b]) for a, b in self.pairs):
            found += [one < other, one > other, one != other, one == other]
        for size in sizes.values():
            found += [size > x for x in THRESHOLDS] + [size == x for x in SIZES]
            found += [(size % x == 0) is even for x in MULTIPLES for even in (True, False)]
        return [*found, *noticed.looked(problem, self.noticed)]

    def sentence(self, text: str) -> Test:
        """The test of a sentence. Raises ValueError if it is not a sentence."""
        tokens, place = [], 0
        for found in TOKEN.finditer(text):
            tokens += [text[place : found.start()].strip(), found[0]]
            place = found.end()
        tokens = [token for token in (*tokens, text[place:].strip()) if token]
        test = self._several(tokens, "or")
        if tokens:
            raise ValueError(f"{tokens[0]!r} is not expected where it stands in {text!r}")
        return test

    def _several(self, tokens: list[str], word: str) -> Test:
        """The test of parts joined by a word: by "or", parts that are joined by "and"."""
        part = partial(self._several, word="and") if word == "or" else self._one
        parts = [part(tokens)]
        while tokens[:1] == [word]:
            tokens.pop(0)
            parts.append(part(tokens))
        if len(parts) == 1:
            return parts[0]
        one_of = {"or": any, "and": all}[word]
        return lambda p, asked: one_of(x(p, asked) for x in parts)

    def _one(self, tokens: list[str]) -> Test:
        if not tokens or tokens[0] in ("and", "or", ")"):
            raise ValueError(f"a feature is missing before {tokens[0] if tokens else 'the end'!r}")
        token = tokens.pop(0)
        if token == "not":
            test = self._one(tokens)
            return lambda p, asked: not test(p, asked)
        if token != "(":
            return self.test(token)
        test = self._several(tokens, "or")
        if tokens[:1] != [")"]:
            raise ValueError("a parenthesis is not closed")
        tokens.pop(0)
        return test


def is_part(asked: str, whole: str) -> bool:
    """Whether a function is another one or part of it, as gradients of the mask are of gradients.

    Both in words; "" is the first function of a kind, of which all others are parts.
    """
    return whole in ("", asked) or asked.startswith(f"{whole} of ")


def negated(feature: str) -> str:
    """The negation of a feature: of something, its absence; of a comparison, the opposite."""
    first, _, rest = feature.partition(" ")
    if first == "not":
        return rest
    if first == "no":
        return f"{'an' if rest[0] in 'aeiou' else 'a'} {rest}"
    if first in ("a", "an"):
        return f"no {rest}"
    if IS_NO in feature:
        return feature.replace(IS_NO, " is a ")
    found = COMPARISON.fullmatch(feature)
    return f"not {feature}" if found is None else feature.replace(found[3], CONTRARY[found[3]])


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence: a, b and c."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def joined(features: Iterable[str]) -> str:
    """All features at once, as a sentence."""
    return " and ".join(features)
