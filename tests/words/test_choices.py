"""A number stands for the choices of a problem: the same ones always, and each as likely."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from spec.choices import Choices, Numbered
from spec.exploring import OneByOne


def chosen(choices: Choices) -> tuple[str, int, int, bytes]:
    return choices.pick("abcde"), choices.seed(), choices.seed(3), choices.octets(4)


def test_zero_stands_for_the_simplest_choices() -> None:
    assert chosen(Numbered(0)) == ("a", 0, 0, bytes(4))


def test_a_number_stands_for_the_same_choices_wherever_it_is_read() -> None:
    assert chosen(Numbered(7)) == ("b", 647892268, 5, bytes.fromhex("332f8b12"))


def test_every_choice_is_as_likely_as_another() -> None:
    count = Counter(Numbered(number).pick("abcde") for number in range(1, 5001))
    assert all(900 < count[value] < 1100 for value in "abcde")
    seeds = [Numbered(number).seed(8) for number in range(1, 5001)]
    assert {*seeds} == {*range(256)}


@given(st.data())
def test_hypothesis_chooses_among_the_same(data: st.DataObject) -> None:
    value, seed, few, octets = chosen(OneByOne(data.draw))
    assert value in "abcde"
    assert 0 <= seed < 2**32
    assert 0 <= few < 8
    assert len(octets) == 4
