"""Formulas as mathematics: nothing of them is lost, and what is not understood stays as it was."""

import re
from xml.etree import ElementTree

import pytest

from spec import CLAUSES
from spec.certification.pages.formulas import formula, is_clear
from spec.certification.pages.symbols import GREEK, Unclear, tokens

BACK = {**{sign: name for name, sign in GREEK.items()}, "∞": "inf", "∑": "sum", "″": "''"}
BACK |= {"≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "⟨": "<", "⟩": ">", "′": "'", "∈": "in"}
BACK |= {"⟹": "implies", "·": "*", "…": "..."}
FENCES = re.compile(r"[\s()_^/,]|sqrt")  # are drawn, not written, in fractions, scripts and roots


def elements(text):
    return ElementTree.fromstring(f"<body>{formula(text)}</body>")


def letters(text):
    """What has to be read, whichever way it is drawn."""
    text = "".join(BACK.get(x, x) for x in text)
    return FENCES.sub("", text.replace("…", "...").replace('"', "''").replace("...", ".."))


def mathematics(text):
    """The elements of a formula without words, as it were written by hand."""
    (found,) = elements(text).iter("math")
    return re.sub(
        r' (form|stretchy|separator|lspace|rspace|displaystyle)="[^"]*"',
        "",
        "".join(ElementTree.tostring(x, encoding="unicode") for x in found),
    )


def test_the_clauses_are_understood():
    """At most one in twenty stays as it was written; at present none does."""
    unclear = [n for n, c in CLAUSES.items() if c.formula and not is_clear(c.formula)]
    assert unclear == []


def test_nothing_is_lost():
    shown = {n: letters("".join(elements(c.formula).itertext())) for n, c in CLAUSES.items()}
    assert {n: x for n, x in shown.items() if x != letters(CLAUSES[n].formula)} == {}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("q_i", "<msub><mi>q</mi><mi>i</mi></msub>"),
        ("2^-50", "<msup><mn>2</mn><mrow><mo>−</mo><mn>50</mn></mrow></msup>"),
        ("W_o^T", "<msubsup><mi>W</mi><mi>o</mi><mi>T</mi></msubsup>"),
        (
            "a_ij / (1 - p)",
            "<mfrac><msub><mi>a</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub>"
            "<mrow><mn>1</mn><mo>−</mo><mi>p</mi></mrow></mfrac>",
        ),
        (
            "sum_j x",
            '<munder><mo movablelimits="false">∑</mo><mi>j</mi></munder>'
            '<mspace width="0.17em" /><mi>x</mi>',
        ),
        ("dq_i", '<mrow><mi mathvariant="normal">d</mi><msub><mi>q</mi><mi>i</mi></msub></mrow>'),
        ("x'", "<mrow><mi>x</mi><mo>′</mo></mrow>"),
        ("<q, k>", "<mrow><mo>⟨</mo><mi>q</mi><mo>,</mo><mi>k</mi><mo>⟩</mo></mrow>"),
        ("i < N", "<mi>i</mi><mo>&lt;</mo><mi>N</mi>"),
        ("b_(i+1)(j+1)", None),
        ("sqrt(D)", "<msqrt><mi>D</mi></msqrt>"),
        ("-inf", "<mo>−</mo><mi>∞</mi>"),
    ],
)
def test_symbols_become_elements(text, shown):
    found = mathematics(text)
    assert found == shown or (shown is None and found.startswith("<msub>"))


@pytest.mark.parametrize(
    ("text", "above"),
    [
        ("softmax_j g(d) / sqrt(E)", "g(d)"),  # of the quotient, not a quotient of softmaxes
        ("sum_j a_ij v_j / (1 - p)", "aijvj"),
        ("p / (1 - p) sum_j v_j", "p"),
        ("exp(s) / sum_j exp(s_j)", "exp(s)"),
        ("x + y / 2", "y"),
    ],
)
def test_a_quotient_is_of_the_product_before_it(text, above):
    (fraction,) = elements(text).iter("mfrac")
    assert "".join(fraction[0].itertext()) == above


def test_words_are_words_and_may_break_between_lines():
    found = elements("o_i = 0    if no key is allowed to i")
    assert "if no key is allowed to" in "".join(x.tail or x.text or "" for x in found.iter("span"))
    assert len([*found.iter("math")]) == 2  # o_i = 0, and i
    assert "a permutation" in formula("o(v P) = o(v) P    for a permutation P of the columns")


def test_an_article_is_no_weight():
    assert "<mi>a</mi>" not in formula("x    for a group of heads")
    assert "<mi>a</mi>" in formula("diag(a) - a a^T")


def test_lines_stay_lines():
    assert len([*elements("a = b\nc = d").iter("div")]) == 2


@pytest.mark.parametrize("text", ["(x", "x)", "x]y[", "x ^", "a $ b", "/ 2", "<x", "\\frac{1}{2}"])
def test_what_is_not_understood_stays_as_it_was(text):
    assert not is_clear(text)
    (found,) = elements(text)
    assert (found.tag, found.text) == ("pre", text)


def test_a_stranger_writes_no_elements():
    for text in ("x = <script>alert(1)</script>", "<b>", "a & b", "o(<i x>)"):
        assert {x.tag for x in elements(text).iter()} <= {
            *("body", "div", "span", "pre", "math", "mrow", "mi", "mo", "mn", "mtext", "mspace"),
            *("msub", "msup", "msubsup", "munder", "mfrac", "msqrt"),
        }


def test_a_letter_of_no_symbol_is_said():
    with pytest.raises(Unclear, match="begins with no symbol"):
        tokens("a § b")
