"""What pages say of outcomes, of errors, and of a stranger's text, whoever was judged."""

import re
from html import unescape

import numpy as np
import pytest

from spec.attention.plug.trials import square
from spec.certification.judging.verdict import Counterexample, Outcome
from spec.certification.pages.figures import figures
from spec.certification.pages.matrix import states
from spec.certification.pages.rendering import between
from spec.comparison import Compared
from spec.notation import Array
from tests.certification.made import verdict

STRANGE = [
    "<script>alert(1)</script>",
    "a < b && c > d",
    "&lt;script&gt;",
    'print("it\'s") # &amp; <!-- -->',
    "</pre><img src=x onerror=y>",
]


@pytest.mark.html
@pytest.mark.parametrize("text", STRANGE)
def test_text_between_tags_opens_none(text: str) -> None:
    found = str(between(text))
    assert not re.search(r"[<>]|&(?!(?:lt|gt|amp);)", found)
    assert unescape(found) == text


def marks(got: Array, want: Array, within: Array, relation: str = "") -> list[bool]:
    """Which errors a picture shows as wrong, from left to right."""
    words = {"about": "attention", "sentence": "x", "formula": "y", "place": None}
    words |= {"looks_like": (), "script": "", "reduced": True}
    compared = Compared(got, want, within, relation)
    example = Counterexample(square("float32"), "it is off", compared=compared, **words)
    (tile,) = figures(example).answered[-1].tiles
    return [found == "neg" for found in re.findall(r'<rect[^>]*class="(pos|neg|odd|hid)"', tile)]


LEAST, MOST = np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0)


@pytest.mark.parametrize(
    ("got", "relation", "wrong"),
    [
        ([0.0, 1.0, MOST, -1.0, -MOST], "", [False, False, True, False, True]),
        ([np.nan, np.inf, -np.inf, 0.5], "", [True, True, True, False]),
        ([np.nan, 9.0, -9.0, LEAST], "at most ", [True, True, False, False]),
        ([np.nan, 9.0, -9.0, -LEAST], "at least ", [True, False, True, False]),
    ],
)
def test_an_error_that_is_not_within_its_budget_is_marked_nan_among_them(
    got: list[float], relation: str, wrong: list[bool]
) -> None:
    found = np.array([got])
    assert marks(found, np.zeros_like(found), np.ones_like(found), relation) == wrong


@pytest.mark.parametrize("outcome", ["holds", "violated", "crashed", "refused"])
def test_a_cell_counts_those_clauses_that_are_offered(outcome: Outcome) -> None:
    numbers = ("A1", "A2", "A3", "A4", "A5")
    offered = [verdict(number, outcome) for number in numbers[:3]]
    absent = [verdict(number, "not offered") for number in numbers[3:]]
    (state,) = states([*offered, *absent])
    assert (state.outcome, state.of) == (outcome, {"float32": (3, 3)})
    assert state.words(1).endswith("3 of 3")
    assert states(absent) == ()


def test_a_cell_counts_each_format_for_itself() -> None:
    found = [verdict("A1", "holds"), verdict("A2", "violated"), verdict("A3", "not offered")]
    found += [verdict(number, "holds", "float16") for number in ("A1", "A2")]
    told = {state.outcome: state.of for state in states(found)}
    assert told == {"violated": {"float32": (1, 2)}, "holds": {"float16": (2, 2)}}
