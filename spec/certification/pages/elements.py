"""The elements of MathML Core for formulas."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from spec.certification.pages.symbols import GREEK, RELATIONS, SIGNS, is_derivative

THIN = "0.17em"  # between the factors of a product
WORD = "0.3em"  # between a word and what stands beside it


def leaf(tag: str, text: str, **attributes: str) -> Element:
    """An element with text only."""
    found = Element(tag, attributes)
    found.text = text
    return found


def holding(tag: str, *parts: Element, **attributes: str) -> Element:
    """An element around others."""
    found = Element(tag, attributes)
    found.extend(parts)
    return found


def row(parts: Sequence[Element]) -> Element:
    """Several elements as one."""
    return parts[0] if len(parts) == 1 else holding("mrow", *parts)


def space(width: str = THIN) -> Element:
    """Space between two elements."""
    return Element("mspace", {"width": width})


def sign(text: str, **attributes: str) -> Element:
    """An operator that does not stretch; a relation is infix, even without an operand."""
    usual = {"form": "infix"} if text in (*RELATIONS, "⟹", "∈") else {}
    return leaf("mo", SIGNS.get(text, text), **{**usual, **attributes})


def fenced(opening: str, inside: Sequence[Element], closing: str) -> Element:
    """Brackets around elements, as large as the letters."""
    before = sign(opening, form="prefix", stretchy="false")
    return holding("mrow", before, *inside, sign(closing, form="postfix", stretchy="false"))


def bare(element: Element) -> Element:
    """The element without its round brackets, for a fraction, which needs none."""
    parts = [*element]
    if element.tag == "mrow" and parts and (parts[0].text, parts[-1].text) == ("(", ")"):
        return row(parts[1:-1])
    return element


def name(text: str) -> Element:
    """A variable in italics; a name of several letters is upright."""
    if text in GREEK:
        return leaf("mi", GREEK[text])
    if text == "sum":
        return leaf("mo", "∑", movablelimits="false")
    if text == "inf":
        return leaf("mi", "∞")
    letters = text.rstrip("0123456789")
    figures = text[len(letters) :]
    return row([leaf("mi", letters), *([leaf("mn", figures)] if figures else [])])


def derivative(inner: Element) -> Element:
    """The derivative of the loss by something."""
    return holding("mrow", leaf("mi", "d", mathvariant="normal"), inner)


def index(text: str) -> Element:
    """The letters of an index, each by itself: ij, h,ij, 2i+1, i'j."""
    parts: list[Element] = []
    for letter in text:
        if letter == "'":
            parts.append(sign("′", lspace="0", rspace="0"))
        elif letter.isdigit() and parts and parts[-1].tag == "mn":
            parts[-1].text = f"{parts[-1].text}{letter}"
        else:
            tag = "mn" if letter.isdigit() else "mi" if letter.isalpha() else "mo"
            parts.append(leaf(tag, letter))
    return row(parts)


def power(text: str) -> Element:
    """An exponent: 2, T, -1."""
    minus = [sign("-", form="prefix")] * text.startswith("-")
    text = text.lstrip("-")
    return row([*minus, leaf("mn" if text.isdigit() else "mi", text)])


def scripted(
    base: Element, below: Element | None, above: Sequence[Element], under: bool
) -> Element:
    """An element with an index, under it or at its right, and a power."""
    if below is None:
        return holding("msup", base, row(above)) if above else base
    if above:
        return holding("msubsup", base, below, row(above))
    return holding("munder" if under else "msub", base, below)


def taken_by(text: str) -> str:
    """The variable of a derivative; empty if the name is no derivative."""
    return text[1:] if is_derivative(text) else ""
