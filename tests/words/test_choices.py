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
    assert chosen(Numbered(7)) == ("c", 4175839367, 0, bytes.fromhex("f05f318b"))


def test_every_choice_is_as_likely_as_another() -> None:
    count = Counter(Numbered(number).pick("abcde") for number in range(1, 5001))
    assert all(900 < count[value] < 1100 for value in "abcde")
    seeds = [Numbered(number).seed(8) for number in range(1, 5001)]
    assert {*seeds} == {*range(256)}


def test_of_a_shape_all_that_is_picked_is_the_same() -> None:
    """And of numbers all else; who is given one number for both has the choices of before."""
    found = [chosen(Numbered(number, shape=7)) for number in range(1, 4)]
    assert {one[0] for one in found} == {chosen(Numbered(7))[0]}
    assert len({one[1:] for one in found}) == 3
    apart, alone = Numbered(3, shape=7), Numbered(3)
    assert len({apart.vary("a", "abcdefgh") for _ in range(50)}) > 1
    assert apart.places(5) == Numbered(4, shape=7).places(5) != 5
    assert alone.vary("a", "abcdefgh") == "a"
    assert alone.places(5) == 5


def test_what_comes_in_turn_comes_once_before_it_comes_again():
    """In another order for another axis, and in another series; by chance where there is none."""

    def turned(number: int) -> list[tuple[str, str]]:
        places = [Numbered(place + 1, turn=(place, number)) for place in range(10)]
        return [(one.turn("abcde"), one.turn("abcde")) for one in places]

    for number in range(20):
        found = turned(number)
        for axis in range(2):
            assert sorted(pair[axis] for pair in found[:5]) == [*"abcde"]
            assert [x[axis] for x in found[5:]] == [x[axis] for x in found[:5]]
        assert found[0] == ("a", "a")
    assert len({str(turned(number)) for number in range(50)}) > 5
    assert any(one != other for number in range(9) for one, other in turned(number))
    shaped = [Numbered(place + 1, shape=7, turn=(place, 3)) for place in range(10)]
    assert len({one.turn("abcde") for one in shaped}) == 1
    assert {Numbered(number).turn("abcde") for number in range(1, 50)} == {*"abcde"}


@given(st.data())
def test_hypothesis_chooses_among_the_same(data: st.DataObject) -> None:
    value, seed, few, octets = chosen(OneByOne(data.draw))
    assert value in "abcde"
    assert OneByOne(data.draw).turn("abcde") in "abcde"
    assert 0 <= seed < 2**32
    assert 0 <= few < 8
    assert len(octets) == 4
