"""Golden certificates: the fixed part is as recorded, and a line tells what it should."""

import copy
import subprocess
import sys
from pathlib import Path
from platform import machine
from typing import Any

import pytest

from tests.golden import __main__ as golden
from tests.golden.lines import judged, line
from tests.golden.subjects import ROOT, Golden, every
from tests.shell import started

FEW = [x for x in every() if x.few and x.needs in ("numpy", "torch")]
RECORDED = golden.recorded(golden.FILE.read_text(encoding="utf-8"))
WRONG = next(x for x in every() if x.name == "rotary/halves_the_exponent")


# Names begin so; together they are all.
GROUPS = {
    "attention": ("attention/",),
    "what stands around it": ("layer/", "cache/", "dropout/", "merging/", "feed-forward/"),
    "positions": ("sinusoidal/", "rotary/", "alibi/"),
    "programs of torch": ("torch/",),
    "other programs": ("right/", "theirs/"),
}


@pytest.mark.skipif(machine() not in ("x86_64", "AMD64"), reason="its last bits are others")
@pytest.mark.torch
@pytest.mark.quick("attention", "programs of torch")
@pytest.mark.parametrize("group", GROUPS)
def test_certificates_are_as_recorded(group: str) -> None:
    """If they are not, and should not be: `python -m tests.golden --few --record` writes them."""
    words = ("-m", "tests.golden", "--few", "--jobs", "1", *GROUPS[group])
    done = started(program=words, start=(sys.executable,), cwd=ROOT, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("judged, 0 not as recorded\n")


def test_each_belongs_to_a_group() -> None:
    beginnings = tuple(x for group in GROUPS.values() for x in group)
    assert [x.name for x in every() if not x.name.startswith(beginnings)] == []


def test_lines_are_in_the_order_of_the_targets_and_the_fixed_part_is_there() -> None:
    names = [x.name for x in every()]
    assert [*RECORDED] == [name for name in names if name in RECORDED]
    assert {x.name for x in FEW} <= {*RECORDED}
    assert 55 <= len(FEW) <= 75


def test_a_folder_is_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of a ledger has the name of a library, and stands where modules are looked for."""
    (tmp_path / "nothing_inside").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert [Golden("", None, {}, name).there for name in ("numpy", "nothing_inside")] == [
        True,
        False,
    ]


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return judged(WRONG)


@pytest.mark.parametrize(
    ("part", "place", "value"),
    [
        ("of", ("verdicts", 3, "outcome"), "blocked"),
        ("of", ("verdicts", 0, "examples"), 1),
        ("of", ("causes", 0, "problem", "q", "numbers", 0), 0.5),
        ("of", ("causes", 0, "features"), []),
        ("of", ("region", 0), False),
        ("words", ("causes", 0, 0), "where M > 1, gradients are wrong"),
        ("words", ("causes", 0, 4, 6), "got = 0"),
    ],
)
def test_a_line_moves_with_what_was_judged_and_with_words(
    told: dict[str, Any], part: str, place: tuple[Any, ...], value: Any
) -> None:
    """Each of the two hashes with its own part, and not with the other."""
    changed = copy.deepcopy(told)
    *way, last = place
    there = changed[part]
    for step in way:
        there = there[step]
    assert there[last] != value
    there[last] = value
    before, after = (line(WRONG, x).split("  ") for x in (told, changed))
    hashes = [one != other for one, other in zip(before[3].split(), after[3].split(), strict=True)]
    assert hashes == [part == "of", part == "words"]


def test_seconds_versions_paths_and_errors_are_left_out(told: dict[str, Any]) -> None:
    text = str(told)
    for word in ("seconds", "numpy 2", str(ROOT), "worst", "got 0", "within 1"):
        assert word not in text


def test_lines_that_moved_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that differ from a commit's, those that are new, and those that are gone."""
    file = tmp_path / "certificates.txt"
    monkeypatch.setattr(golden, "FILE", file)
    monkeypatch.setattr(golden, "ROOT", tmp_path)
    file.write_text("a  refused\nb  refused\nc  certified\n")
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*name, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    file.write_text("a  refused\nb  certified\nd  refused\n")
    assert golden.moved("HEAD") == ["b", "c", "d"]


def judged_with(change: str) -> subprocess.CompletedProcess[str]:
    """Golden certificates of two ALiBi mistakes, after a change of the module `g` that judges."""
    program = f"import os, sys; from tests.golden import __main__ as g; {change}; "
    words = [sys.executable, "-c", program + "sys.exit(g.main())", "alibi/h", "--jobs", "2"]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)


COUNT = sum(x.name.startswith("alibi/h") for x in every())


def test_a_line_that_is_not_as_recorded_ends_with_1_and_is_printed() -> None:
    done = judged_with("g.recorded = lambda _: {}")
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("\n+ alibi/") == COUNT
    assert done.stdout.endswith(f"{COUNT} judged, {COUNT} not as recorded\n")


def test_a_judge_that_dies_is_a_line_and_ends_nothing() -> None:
    done = judged_with("g.judged = lambda _: os._exit(5)")
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("  its judge died, exit code 5\n") == COUNT
    assert done.stdout.endswith(f"{COUNT} judged, {COUNT} not as recorded\n")


def test_the_parts_are_all_targets_and_each_is_in_one() -> None:
    names = [*golden.by_name()]
    parts = [names[golden.part(f"{i}/4")] for i in range(1, 5)]
    assert sorted(x for each in parts for x in each) == sorted(names)
    for word in ("0/4", "5/4", "1/0", "1"):
        with pytest.raises(ValueError, match=r"/|unpack"):
            golden.part(word)
