"""Matrices drawn small, and which ones there are of a counterexample."""

from xml.etree import ElementTree

import numpy as np
import pytest

from spec.certification.judging.verdict import counterexample_from_json, counterexample_to_json
from spec.certification.ledger.reading import loaded
from spec.certification.pages.figures import figure, figures, largest
from spec.certification.pages.heat import MOST, READ, Heat, number, spoken, svg
from spec.kinds import KINDS
from spec.picture import Picture
from tests.certification.test_saved import SAVED


def drawn(heat):
    return ElementTree.fromstring(svg(heat))


def kinds(root):
    return [x.get("class") for x in root.iter("rect")]


def test_numbers_are_printed_and_said():
    heat = Heat("weights", np.array([[0.25, 0.75]]))
    root = drawn(heat)
    assert [x.text for x in root.iter("text") if x.get("class") == "n"] == ["0.25", "0.75"]
    assert root.find("title").text == "weights, 1 by 2: 0.25, 0.75"
    assert root.get("role") == "img"


def test_what_is_hidden_is_hatched():
    hidden = np.array([[False, True]])
    heat = Heat("scores", np.array([[1.0, -np.inf]]), hidden=hidden)
    assert kinds(drawn(heat)) == ["pos", "hid"]
    assert spoken(heat).endswith("1, hidden")


def test_signs_have_colours_and_sizes_have_shades():
    root = drawn(Heat("x", np.array([[2.0, -1.0, np.nan]]), top=2.0))
    assert kinds(root) == ["pos", "neg", "odd"]
    strong, weak, _ = (x.get("fill-opacity") for x in root.iter("rect"))
    assert float(strong) > float(weak) > 0


def test_an_error_over_its_budget_is_marked_and_one_within_is_not():
    wrong = np.array([[True, False]])
    root = drawn(Heat("error", np.array([[1e-9, 9.0]]), wrong=wrong, worst=(0, 0)))
    assert kinds(root) == ["neg", "pos", "worst"]


def test_many_numbers_are_shades_that_say_theirs():
    root = drawn(Heat("x", np.zeros((READ + 1, 2))))
    assert not [x for x in root.iter("text") if x.get("class") == "n"]
    assert len([*root.iter("title")]) == 1 + (READ + 1) * 2


def test_of_a_large_one_the_beginning_is_drawn():
    root = drawn(Heat("x", np.zeros((MOST + 1, 3))))
    assert len(kinds(root)) == MOST * 3


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (-0.25, "−0.25"),
        (8.9e-308, "8.9e−308"),
        (np.inf, "∞"),
        (np.nan, "NaN"),
        (True, "true"),
        (3, "3"),
    ],
)
def test_numbers_are_short(x, text):
    assert number(x) == text


@pytest.mark.parametrize(("width", "tiles", "words"), [(4, 3, "3 of 6"), (40, 1, "1 of 6")])
def test_of_many_matrices_a_few_are_drawn_the_worst_first(width, tiles, words):
    array = np.arange(6.0 * 8 * width).reshape(2, 3, 8, width)
    found = figure(Picture("x", array, "B H N D"), 1.0, worst=(1, 2, 0, 3))
    assert len(found.tiles) == tiles
    assert f"{words} matrices" in found.caption
    assert "x, B=1 H=2, 8 by" in found.tiles[0]
    assert 'class="worst"' in found.tiles[0]


def test_an_array_of_any_shape_is_drawn():
    for shape in ((), (3,), (2, 3), (1, 2, 3), (1, 1, 2, 3)):
        found = figure(Picture("x", np.ones(shape)), 1.0, worst=(0,) * len(shape))
        assert 'class="worst"' in found.tiles[0]


def test_no_number_is_larger_than_infinity():
    assert largest(np.array([np.inf, -3.0, np.nan]), np.array([2.0])) == 3
    assert largest(np.array([])) == 0


def test_a_counterexample_has_scores_and_weights_and_what_came_back(wrong):
    found = figures(wrong.causes[0].counterexample)
    assert [x.name for x in found.meant] == ["scores", "weights"]
    assert [x.name for x in found.answered] == ["got", "want", "error"]
    assert {"q", "k", "v", "dout"} <= {x.name for x in found.asked}
    assert "M down, D across" in {x.caption for x in found.asked}
    assert 'class="worst"' in found.answered[0].tiles[0]


@pytest.mark.slow
def test_what_the_future_hides_is_hatched(masked):
    example = masked.causes[0].counterexample
    assert example.problem.causal
    scores, weights = figures(example).meant
    assert 'class="hid"' in scores.tiles[0]
    assert 'class="hid"' in weights.tiles[0]


@pytest.mark.parametrize("about", KINDS)
def test_every_kind_has_something_to_see(about, wrong):
    """A problem of its core, as if it were a counterexample; only attention has scores."""
    example = wrong.causes[0].counterexample
    problem = KINDS[about].core("float32")
    shown = figures(type(example)(**{**vars(example), "about": about, "problem": problem}))
    assert shown.asked or about in ("sinusoidal", "alibi")
    assert bool(shown.meant) == (about == "attention")


def test_all_that_was_got_is_kept_and_read_again(wrong):
    example = wrong.causes[0].counterexample
    again = counterexample_from_json(counterexample_to_json(example))
    for name in ("got", "want", "within"):
        x, y = getattr(example.compared, name), getattr(again.compared, name)
        assert x.dtype == y.dtype == np.float64
        assert np.array_equal(x, y)
    assert example.compared.got[example.place.index] == example.place.got


def test_a_certificate_of_before_has_none():
    """As certificates were written before: without that field."""
    found = loaded(SAVED / "certificate.json")
    example = next(v.counterexample for v in found.verdicts if v.counterexample)
    assert example.compared is None
    assert figures(example).answered == ()
    assert figures(example).asked
