"""The probabilities in docs/isolation.md follow from its counts and from the limits in the code."""

import re

import pytest

from spec.certification.judging.apart import EFFORT
from spec.certification.judging.posing import OTHERS
from tests.walked import ROOT

PAGE = (ROOT / "docs" / "isolation.md").read_text(encoding="utf-8")
PROFILES = ("quick", "standard")
FORMATS = (1, 3)  # in which a program of its own calls the target, by profile
ROW = re.compile(r"^\| ([\w,^]+) \| ([\d.,]+)%? \| ([\d.,]+)%? \|$", re.MULTILINE)


def rows(title: str) -> dict[str, tuple[float, float]]:
    """The rows of the table that follows a title."""
    _, found, rest = PAGE.partition(title)
    assert found
    table = rest[rest.index("\n| ") :].lstrip().partition("\n\n")[0]
    told = {x[1]: (number(x[2]), number(x[3])) for x in ROW.finditer(table)}
    assert len(told) > 1
    return told


def number(text: str) -> float:
    if "^" in text:
        return 2.0 ** int(text.partition("^")[2])
    return float(text.replace(",", ""))


def close(found: float, chance: float) -> bool:
    return found == pytest.approx(100 * chance, abs=0.51 if found >= 10 else 0.051 + 0.04 * found)


@pytest.mark.parametrize(
    ("title", "of"), [("**Wrong in one call", "calls"), ("**Wrong at one size", "problems")]
)
def test_chances_of_many(title: str, of: str) -> None:
    counted = rows("so many problems\nand calls")[of]
    for n, said in rows(title).items():
        for found, count in zip(said, counted, strict=True):
            assert close(found, 1 - (1 - 1 / number(n)) ** count), (n, found)


def test_chances_after_some_calls() -> None:
    for n, said in rows("**Right for the first").items():
        for found, profile, formats in zip(said, PROFILES, FORMATS, strict=True):
            effort = EFFORT[profile]
            in_time = number(n) * 30e-6 <= effort.seconds
            missed = min(number(n) / effort.calls, 1.0) if in_time else 1.0
            assert close(found, 1 - missed**formats), (n, found)


def test_chances_of_large_problems() -> None:
    for scores, said in rows("**Wrong from a number of scores").items():
        power = int(scores.partition("^")[2])
        for found, profile, formats in zip(said, PROFILES, FORMATS, strict=True):
            low, high = EFFORT[profile].low, EFFORT[profile].high
            missed = min((power - low) / (high - low), 1.0)
            assert close(found, 1 - missed**formats), (scores, found)


def test_the_numbers_in_sentences_are_those_of_the_code() -> None:
    quick, standard = (EFFORT[x] for x in PROFILES)
    assert OTHERS == 8
    for words in (
        f"up to {quick.calls:,} calls in a row",
        f"or {standard.calls:,} in each",
        f"in {quick.seconds} or {standard.seconds} seconds",
        f"from 2^{quick.low} to 2^{quick.high} (quick) or 2^{standard.high} (standard)",
        f"longer than {quick.large:g}\nseconds (quick)",
    ):
        assert words in PAGE, words
