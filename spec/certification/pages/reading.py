"""Formulas read from left to right: products, quotients, brackets, indices and powers."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from spec.certification.pages.elements import (
    WORD,
    bare,
    derivative,
    fenced,
    holding,
    index,
    leaf,
    name,
    power,
    row,
    scripted,
    sign,
    space,
    taken_by,
)
from spec.certification.pages.symbols import (
    DOTS,
    FENCES,
    OPERATORS,
    PERMUTED,
    RELATIONS,
    SEPARATORS,
    Token,
    Unclear,
    is_word,
)


def read(symbols: Sequence[Token]) -> list[Element]:
    """The elements of a formula. Raises Unclear if it is not understood."""
    reader = Reader(symbols)
    found = reader.line("", drawn=True)
    if reader.next is not None:
        raise Unclear(f"{reader.next.text!r} closes nothing")
    return found


class Reader:
    """Reads symbols. place: the position of the next one."""

    def __init__(self, symbols: Sequence[Token]) -> None:
        self.symbols, self.place = symbols, 0

    @property
    def next(self) -> Token | None:
        """The next symbol; None at the end."""
        return self.symbols[self.place] if self.place < len(self.symbols) else None

    def taken(self) -> Token:
        """Take the next symbol. Raises Unclear at the end."""
        found = self.next
        if found is None:
            raise Unclear("it ends before it is over")
        self.place += 1
        return found

    def line(self, closing: str, drawn: bool = False, inside: str = "") -> list[Element]:
        """The elements up to a closing bracket. drawn: a quotient becomes a fraction."""
        line = Line(self, closing, drawn, inside)
        while (token := self.next) is not None and not line.closes(token):
            line.add(token)
        if closing and self.next is None:
            raise Unclear(f"{closing!r} is missing")
        return line.parts

    def brackets(self, inside: str = "") -> tuple[str, list[Element], str]:
        """The opening bracket, the elements, and the closing bracket."""
        opening = self.taken().text.replace("<", "⟨")
        found = self.line(FENCES[opening], inside=inside)
        self.taken()
        return opening, found, FENCES[opening]

    def factor(self) -> Element:
        """One operand: a number, a name or brackets, with what follows directly."""
        token = self.next
        if token is not None and token.is_opening:
            return self.dressed(fenced(*self.brackets()))
        token = self.taken()
        if token.sort == "number" or token.text in DOTS:
            return self.dressed(leaf("mn", token.text) if token.sort == "number" else sign("..."))
        if token.sort != "name":
            raise Unclear(f"{token.text!r} where an operand would stand")
        if token.text == "sqrt" and self._touches("("):
            return self.dressed(holding("msqrt", *self.brackets()[1]))
        if by := taken_by(token.text):  # an index is that of what it is taken by
            return derivative(self.dressed(name(by)))
        return self.dressed(name(token.text), under=token.text == "sum")

    def dressed(self, base: Element, under: bool = False) -> Element:
        """A base with its primes, indices and powers, and its argument."""
        while (token := self.next) is not None and not token.before:
            if token.sort in ("prime", "sub", "sup"):
                base = self._with_scripts(base, under)
            elif token.text in ("(", "[") and not under:
                base = holding("mrow", base, fenced(*self.brackets()))
            else:
                break
        return base

    def _with_scripts(self, base: Element, under: bool) -> Element:
        """A base with one index and one power; a prime is higher as well."""
        below: Element | None = None
        above: list[Element] = []
        while (token := self.next) is not None and not token.before:
            if token.sort == "sub" and below is None:
                below = self._index(self.taken().text[1:])
            elif token.sort == "sup" and not above:
                text = self.taken().text[1:]
                above.append(power(text) if text else row(self.brackets("power")[1]))
            elif token.sort == "prime" and not above:
                where, count = below is None, 2 if self.taken().text in ("''", '"') else 1
                primes = sign("′" * count, lspace="0", rspace="0")
                base = holding("mrow", base if where else scripted(base, below, (), under), primes)
                below = None
            else:
                break
        return scripted(base, below, above, under)

    def _index(self, text: str) -> Element:
        """An index in letters, or in brackets: one behind the other is of two axes."""
        if text:
            argument = text in PERMUTED and self._names_one()
            return row([index(text), *([fenced(*self.brackets())] if argument else [])])
        parts = self.brackets("index")[1]
        while self._touches("("):
            parts += [sign(","), *self.brackets("index")[1]]
        return row(parts)

    def _names_one(self) -> bool:
        """Whether one letter in brackets comes next: of an order p, as in the entry p(i)."""
        ahead = self.symbols[self.place : self.place + 3]
        shape = [token.text if token.sort == "sign" else token.sort for token in ahead]
        return shape == ["(", "name", ")"] and len(ahead[1].text) == 1 and self._touches("(")

    def _touches(self, text: str) -> bool:
        return self.next is not None and self.next.text == text and not self.next.before


class Line:
    """Elements in a row, between two brackets or in the open."""

    def __init__(self, reader: Reader, closing: str, drawn: bool, inside: str) -> None:
        self.reader, self.closing, self.drawn, self.inside = reader, closing, drawn, inside
        self.parts: list[Element] = []
        self.start = 0  # of the product that a quotient divides
        self.operand = False  # whether the last part is one
        self.word = False  # whether it is a word

    def closes(self, token: Token) -> bool:
        """Whether the line ends here. Raises Unclear for a bracket of another kind."""
        if token.text == ">":
            return self.closing == "⟩" and not token.before
        if token.text == "|":
            return self.closing == "|" and self.operand
        if token.text in (")", "]", "}") and token.text != self.closing:
            raise Unclear(f"{token.text!r} closes nothing")
        return token.text == self.closing

    def add(self, token: Token) -> None:
        """Read one more thing, which begins with a symbol."""
        if token.text == "implies" or self._is_membership(token):
            self._sign(token, "⟹" if token.text == "implies" else "∈")
        elif is_word(token, self._after()):
            self._word(token)
        elif token.text == "/" and self.operand:
            self._quotient()
        elif token.text in SEPARATORS or (token.text in RELATIONS and not token.is_opening):
            self._sign(token, token.text)
        else:
            self._factor(token)

    def _after(self) -> Token | None:
        place = self.reader.place + 1
        return self.reader.symbols[place] if place < len(self.reader.symbols) else None

    def _is_membership(self, token: Token) -> bool:
        """Whether `in` is that of a set: in an index, or before numbers."""
        following = self._after()
        numbers = following is not None and (following.text == "{" or following.sort == "number")
        return token.text == "in" and (numbers or self.inside == "index")

    def _sign(self, token: Token, text: str) -> None:
        self.reader.taken()
        lonely = text == "-" and not self.operand
        if lonely and self.word:
            self.parts.append(space(WORD))
        tight = {"lspace": "0", "rspace": "0"} if text == ":" and not token.after else {}
        self.parts.append(sign(text, **({"form": "prefix"} if lonely else tight)))
        self.operand, self.word, self.start = False, False, len(self.parts)

    def _word(self, token: Token) -> None:
        self.reader.taken()
        if self.parts and (self.operand or self.word):
            self.parts.append(space(WORD))
        self.parts.append(leaf("mtext", token.text))
        self.operand, self.word, self.start = False, True, len(self.parts)

    def _quotient(self) -> None:
        """A fraction; a stroke where there is no room for one."""
        self.reader.taken()
        if not self.drawn:
            self.parts.append(leaf("mo", "/", form="infix", lspace="0.1em", rspace="0.1em"))
            self.operand = False
            return
        above = self.parts[self.start :]
        del self.parts[self.start :]
        self.operand = False
        place = len(self.parts)
        self._divisor()
        below = self.parts[place:]
        del self.parts[place:]
        self.parts.append(holding("mfrac", bare(row(above)), bare(row(below))))
        self.start, self.operand = place, True

    def _divisor(self) -> None:
        """One factor; of a sum, or a function without brackets, with what that is of."""
        while (token := self.reader.next) is not None:
            self._factor(token)
            if self.operand:
                break

    def _factor(self, token: Token) -> None:
        if self.word or (self.operand and token.before):
            self.parts.append(space(WORD if self.word else "0.17em"))
        self.parts.append(self.reader.factor())
        last = self.reader.symbols[self.reader.place - 1].text
        unapplied = token.text == "sum" or (token.text in OPERATORS and last != ")")
        self.operand, self.word = not unapplied, False
        if unapplied:  # what it is of is yet to come, and a quotient is of that
            self.parts.append(space())
            self.start = len(self.parts)
