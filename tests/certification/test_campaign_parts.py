"""A campaign has a list of seeds and a folder, and remembers problems that broke a clause."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis.database import InMemoryExampleDatabase

from spec.backends import Unsuitable
from spec.certification import campaign as module
from spec.certification.campaign import Seed, Tally, campaign, seeds
from spec.certification.judging.edition import edition
from spec.certification.judging.replaying import BREAKS
from spec.certification.remembered import Remembered, replays
from spec.certification.settings import Request
from spec.notation import DTYPES
from tests.certification.made import certificate, verdict

NAME = "mine.py:attend"
CODES = {0: "holds", 1: "violated", 3: "crashed"}
WORD = "quick 0 1 strict 0123456789ab"


def with_code(code: int) -> Any:
    """A certificate that ends a command with a code."""
    made = certificate(verdict("A1", "holds"), verdict("A2", CODES[code]))
    assert made.exit_code == code
    return made


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0-3", [0, 1, 2, 3]),
        ("5", [5]),
        ("7-7", [7]),
        ("0-1,9, 4-5", [0, 1, 9, 4, 5]),
        ("3,1-3", [3, 1, 2]),
        ("secret:2", ["secret-1", "secret-2"]),
        ("4,secret:1", [4, "secret-1"]),
    ],
)
def test_a_range_of_seeds_has_both_of_its_ends(text: str, wanted: list[Seed]) -> None:
    assert seeds(text) == wanted


def test_seeds_are_secret_unless_a_target_could_know_them() -> None:
    apart, shares = (Request(NAME, isolation=how) for how in ("process", "fork"))
    assert seeds(None, [apart]) == [f"secret-{n}" for n in range(1, 101)]
    assert seeds(None, [apart, shares]) == [*range(100)]


@pytest.mark.parametrize("codes", [(1, 0), (0, 1), (3, 0), (0, 3), (3, 1, 0), (1, 3)])
def test_the_exit_code_of_seeds_is_the_gravest(codes: tuple[int, ...]) -> None:
    tally = Tally(len(codes))
    for code in codes:
        tally.add(with_code(code))
    assert tally.code == (1 if 1 in codes else 3)
    assert (tally.seeds, tally.failures) == (len(codes), {"A2": 1} if 1 in codes else {})


class Judging:
    """Stands for the judge: what it was asked, and that all is certified."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def __call__(self, request: Request, _: Any) -> Any:
        self.asked.append(request)
        return with_code(0)


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch) -> Judging:
    judge = Judging()
    monkeypatch.setattr(module, "certified", judge)
    return judge


def run(folder: Path, wanted: list[Seed], **fields: Any) -> int:
    """A campaign of one target."""
    return campaign({NAME: Request(NAME, **fields)}, wanted, folder, None)


def test_a_seed_whose_certificate_is_kept_is_judged_no_more(
    judging: Judging, tmp_path: Path
) -> None:
    run(tmp_path, [0, 1])
    run(tmp_path, [0, 1, 2])
    assert [request.seed for request in judging.asked] == [0, 1, 2]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}', "{}"])
def test_a_damaged_certificate_is_told_and_left_as_it_was(
    text: str, judging: Judging, tmp_path: Path
) -> None:
    run(tmp_path, [0])
    (kept,) = tmp_path.glob("*/0.json")
    kept.write_text(text)
    with pytest.raises(Unsuitable, match=r"0\.json"):
        run(tmp_path, [0, 1])
    assert kept.read_text() == text
    assert len(judging.asked) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"profile": "standard"},
        {"dtypes": ("float32",)},
        {"clauses": ("A2",)},
        {"where": "causal"},
        {"conventions": {"fully-masked": "nan"}},
        {"deviations": {"A2": "published"}},
        {"compiled": "torch.compile"},
    ],
    ids=str,
)
@pytest.mark.usefixtures("judging")
def test_a_folder_holds_what_was_asked_in_one_way(fields: dict[str, Any], tmp_path: Path) -> None:
    run(tmp_path, [0], profile="quick")
    with pytest.raises(Unsuitable, match="holds a campaign that asks otherwise for mine"):
        run(tmp_path, [1], **{"profile": "quick", **fields})


def test_how_fast_a_campaign_goes_on_may_be_another_matter(
    judging: Judging, tmp_path: Path
) -> None:
    run(tmp_path, [0])
    run(tmp_path, [1], jobs=2, isolate=True, call_timeout=9.0)
    assert [request.seed for request in judging.asked] == [0, 1]


def known(*places: tuple[str, str], of: str = "") -> Remembered:
    """A database in which a word is known for clauses and formats. of: which specification."""
    found = Remembered(InMemoryExampleDatabase())
    for number, dtype in places:
        found.keep(NAME, verdict(number, "violated", dtype, drawn={WORD: BREAKS}))
        if of:
            key = f"attention-spec {NAME} {number} {dtype}".encode()
            for entry in [*found.entries.fetch(key)]:
                found.entries.delete(key, entry)
            entry = {"specification": of, "problem": WORD}
            found.entries.save(key, json.dumps(entry).encode())
    return found


def test_words_of_this_specification_are_put_again_and_those_of_others_forgotten() -> None:
    for of, wanted in (("", ([WORD], 0)), (edition(), ([WORD], 0)), ("another", ([], 1))):
        database = known(("A1", "float32"), of=of)
        assert database.words(NAME, "A1", "float32") == wanted
        assert database.words(NAME, "A1", "float32") == (wanted[0], 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_old_problems_are_put_in_their_own_format_alone(dtype: str) -> None:
    again, stale = replays(known(("A1", dtype), ("A2", dtype)), Request(NAME))
    assert again is not None
    assert (again.dtypes, again.clauses, stale) == ((dtype,), ("A1", "A2"), 0)
    assert {*again.replays} == {f"A1 {dtype}", f"A2 {dtype}"}
    assert replays(known(("A1", "float64")), Request(NAME, dtypes=("float32",))) == (None, 0)


def test_secret_seeds_are_left_to_the_judge_and_kept_by_name(
    judging: Judging, tmp_path: Path
) -> None:
    apart = {"isolation": "process"}
    assert run(tmp_path, ["secret-1"], **apart) == 0
    assert run(tmp_path, [7, "secret-1", "secret-2"], **apart) == 0
    assert [(x.secret, x.seed) for x in judging.asked] == [(True, 0), (False, 7), (True, 0)]
    files = sorted(x.name for x in tmp_path.glob("*/*.json"))
    assert files == ["7.json", "secret-1.json", "secret-2.json"]


def test_a_target_that_could_know_them_has_no_secret_seeds(
    judging: Judging, tmp_path: Path
) -> None:
    with pytest.raises(Unsuitable, match="--seed secret needs --isolation process"):
        run(tmp_path, [0, "secret-1"], isolation="fork")
    assert judging.asked == []
    assert [*tmp_path.iterdir()] == []
