"""Deviations are what our list or the person who asks says: nothing that is judged has any."""

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from implementations.alibi import bias
from implementations.cached import Growing
from implementations.dropout import attend as drop
from implementations.feed_forward import feed_forward
from implementations.merging import merge
from implementations.multihead import MultiHead
from implementations.rotary import rotate
from implementations.sinusoidal import encode
from spec import CLAUSES, certify
from spec.backends import Unsuitable
from spec.certification.as_tests import runs
from spec.certification.settings import Request
from spec.certification.target.declared import declared
from spec.kinds import KINDS, kind_of
from tests import shell, targets
from tests.night import deep
from tests.shell import certify as certify_named
from tests.shell import run

FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",)}
ATTEND = """import numpy as np

def attend(query, key, value):
    return np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)

attend.deviations = {"A1": "known"}
"""


# A target cannot excuse itself


def nothing(function: Any) -> Any:
    """Zeros in place of whatever a function returns."""

    @functools.wraps(function, updated=())
    def zeros(*arrays: Any, **options: Any) -> Any:
        return 0 * function(*arrays, **options)

    return zeros


@functools.wraps(merge, updated=())
def no_state(*states: Any) -> Any:
    """The state of no keys, whatever is merged."""
    o, lse = merge(*states)
    return 0 * o, 0 * lse


class Zeros(MultiHead):
    """A layer of zeros."""

    def __call__(self, query, key, value, **options):  # type: ignore[no-untyped-def]
        y, weights = super().__call__(query, key, value, **options)
        return 0 * y, weights


class Forgets(Growing):
    """A cache that answers zeros."""

    def extend(self, query, key, value, counts=None):  # type: ignore[no-untyped-def]
        return 0 * super().extend(query, key, value, counts)


EMPTY: dict[str, Any] = {
    "attention": nothing(targets.plain),
    "layer": Zeros,
    "cache": Forgets,
    "sinusoidal": nothing(encode),
    "rotary": nothing(rotate),
    "alibi": nothing(bias),
    "feed-forward": nothing(feed_forward),
    "dropout": nothing(drop),
    "merging": no_state,
}


@pytest.mark.quick(
    "sinusoidal-record",
    "alibi-record",
    "sinusoidal-program",
    "alibi-program",
    "feed-forward-record",
    "feed-forward-program",
    "rotary-record",
    "rotary-program",
    "merging-record",
    "merging-program",
    "layer-record",
    "layer-program",
    "dropout-program",
    "cache-record",
)
@pytest.mark.parametrize("record", [False, True], ids=["program", "record"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_is_judged_excuses_itself(kind: str, record: bool) -> None:
    known, target = kind_of(kind), EMPTY[kind]
    excuses = {number: "known" for number, clause in CLAUSES.items() if clause.about == kind}
    target.deviations = excuses
    if record:
        target = known.load(target)
        object.__setattr__(target, "deviations", excuses)
    certificate = certify(target, kind=kind, fail_fast=True, **FEW)
    assert certificate.exit_code == 1, str(certificate)
    assert str(certificate).partition("\n")[0].endswith(": not certified")
    assert certificate.ledger["deviates"] == 0


@pytest.mark.parametrize(("words", "causes"), [(shell.NO_CAUSES, ""), deep((), ", for 1 cause")])
def test_not_on_the_command_line_either(
    words: tuple[str, ...], causes: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(ATTEND)
    done = run("certify", "mine.py:attend", *shell.FEW, *words, "--clause", "A1", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith(f"attend: not certified{causes}\n")


@pytest.mark.parametrize("kind", KINDS)
def test_the_clause_of_the_definition_never_deviates(kind: str) -> None:
    definition = kind_of(kind).definition
    with pytest.raises(Unsuitable, match=f"--deviation {definition}: "):
        certify(EMPTY[kind], kind=kind, deviations={definition: "known"}, **FEW)
    lists = [kind.targets.known for kind in KINDS.values()]
    found = [one for known in lists for listed in known.values() for one in listed]
    listed = {number for one in found for number in one.clauses}
    assert definition not in listed
    assert listed <= set(CLAUSES)


# The person who asks may declare one


def test_a_declared_deviation_is_strict_and_said_in_the_first_line() -> None:
    known = {"A2": "published\n  so", "A4": "none"}
    few = certify(targets.elementwise, **FEW, clauses="A1,A2,A4", deviations=known)
    assert {v.clause: v.outcome for v in few.verdicts}["A4"] == "holds"
    assert str(few).startswith("elementwise: certified (quick) but for 1 deviation\n")
    assert "declared: published so" in str(few)
    whole = certify(
        targets.elementwise, **{**FEW, "profile": "standard"}, clauses="A1,A2,A4", deviations=known
    )
    outcomes = {v.clause: v.outcome for v in whole.verdicts}
    assert outcomes == {"A1": "holds", "A2": "deviates", "A4": "violated"}
    assert "no longer deviates" in str(whole)
    assert str(whole).startswith("elementwise: not certified\n")


def test_they_are_declared_in_a_file(tmp_path: Path) -> None:
    for name, text in (("a.toml", 'A2 = "published so"\n'), ("a.json", '{"A2": "published so"}')):
        (tmp_path / name).write_text(text)
        assert declared((), str(tmp_path / name)) == {"A2": "published so"}
    file = ("--deviations", str(tmp_path / "a.toml"), "--json", str(tmp_path / "c"))
    done = certify_named("elementwise", "--clause", "A2,A3", *file, "--deviation", "A3=it's so")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("elementwise: certified (quick) but for 2 deviations\n")
    assert """--deviation 'A2=published so' --deviation 'A3=it'"'"'s so'""" in done.stdout
    saved = json.loads((tmp_path / "c").read_text())
    assert saved["passed"]
    assert saved["ledger"]["deviates"] == 2


def test_a_request_keeps_them() -> None:
    request = Request("mine.py:attend", deviations={"A2": "published so"})
    assert Request.from_json(json.loads(json.dumps(request.to_json()))) == request


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("A1=known",), "--deviation A1: the definition of an attention function cannot be waived"),
        (("Q99=known",), "unknown clause 'Q99'"),
        (("A=known",), "unknown clause 'A'"),
        (("L32=known",), "it is about layer, the target about attention"),
        (("A2",), "write CLAUSE=REASON"),
        (("A2=",), "say why, as A2=REASON"),
    ],
)
def test_what_cannot_be_declared_is_told(words: tuple[str, ...], line: str) -> None:
    with pytest.raises(Unsuitable, match=line):
        certify(targets.elementwise, deviations=declared(words, None), **FEW)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("none.toml", None, "No such file or directory"),
        ("bad.toml", "A2: published", "bad.toml: Expected"),
        ("bad.json", "[1]", "write CLAUSE = REASON"),
        ("deep.toml", "[A2]\nreason = 1\n", "say why, as A2=REASON"),
    ],
)
def test_so_is_a_file_that_holds_none(
    name: str, text: str | None, line: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(Unsuitable, match=line):
        certify(targets.elementwise, deviations=declared((), str(tmp_path / name)), **FEW)


def test_on_the_command_line_it_is_a_line() -> None:
    for words in (("--deviation", "A1=known"), ("--deviations", "none.toml")):
        done = certify_named("elementwise", *words)
        assert done.returncode == 2, done.stdout
        assert len(done.stderr.splitlines()) == 1


def test_a_test_for_each_clause_takes_them() -> None:
    options = {**FEW, "clauses": ("A2",)}
    without, excused = (
        next(x for x in runs(targets.elementwise, **options, deviations=y) if x.number == "A2")
        for y in ({}, {"A2": "published so"})
    )
    with pytest.raises(AssertionError, match="A2"):
        without()
    with pytest.raises(pytest.xfail.Exception, match="published so"):
        excused()


@pytest.mark.slow
def test_so_does_pytest() -> None:
    words = ("--implementation", "tests.targets:elementwise", "--profile", "quick", "--clause")
    words = (*words, "A2", "--dtype", "float32", "-q", "-p", "no:cacheprovider")
    done = run(*words, "--deviation", "A2=published so", "-rx", program=("-m", "pytest"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "XFAIL tests.targets:elementwise::A2-" in done.stdout
    assert " - declared: published so" in done.stdout
