"""Whoever compiles a program for each shape is asked in few, with numbers of each clause."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from spec import CLAUSES, about, certify
from spec.certification.judging.drawing import drawn, series
from spec.certification.judging.given import programs_of, shapes_of
from spec.certification.judging.judging import scope_for
from spec.certification.judging.posing import posed
from spec.certification.profiles import PROFILES
from spec.choices import Numbered
from spec.domain import Scope
from spec.kinds import KINDS
from spec.trial import asked
from tests import shell
from tests.judging import bound, found, planner
from tests.night import deep

COMPILING, FAULTY = "tests.targets.compiling:attend", "tests.targets.compiling:faulty"
FAULTY_LAYER = "tests.targets.compiling:Faulty"
AT_ONCE = "tests.targets.compiling:at_once"
OPTIONS = {"profile": "quick", "dtypes": ("float32",)}
MASKLESS = KINDS["attention"].subjects["ignores_the_mask"]
# A shape is chosen for each clause that there is, whatever is selected, which takes its time.
NAMED = ("A1", "A4", "K1", "V2")
SOME = {n: x for i, (n, x) in enumerate(about("attention").items()) if n in NAMED or i % 15 == 0}
SPECIFICATION = f"{__name__}:SOME"
SPECIFICATIONS = [SPECIFICATION, deep("spec:CLAUSES")]
OF_LAYERS = {number: CLAUSES[number] for number in ("L1", "L2")}
BESIDES = 60  # shapes that are asked for while it is probed


def planned(subject, profile="standard", where="", every=1):
    """A subject as one that compiles, and what planned its shapes, for each so many-th clause."""
    chosen = planner(subject, profile=PROFILES[profile], where=where)
    return subject.but(palette=chosen.palette(bound(subject)[::every])), chosen


@pytest.fixture(scope="module", params=[12, deep(1)])
def maskless(request):
    """A function of few options, as one that compiles."""
    return planned(MASKLESS, "quick", every=request.param)


def test_a_number_stands_for_shapes_and_another_one_for_numbers():
    problems = [Numbered(number, shape=5) for number in range(1, 9)]
    drawn = [CLAUSES["V2"].over.problem(x, Scope("float32")) for x in problems]
    assert len({shapes_of(p) for p in drawn}) == 1
    assert len({p.v.tobytes() for p in drawn}) > 1
    alone = CLAUSES["V2"].over.problem(Numbered(5), Scope("float32"))
    assert shapes_of(alone) == shapes_of(drawn[0])


def test_a_program_of_its_own_is_asked_for_outputs_that_have_numbers(maskless):
    """In three shapes of a palette, whichever they are: some have no queries, or no values."""
    subject, _ = maskless
    shapes = subject.palette["A1"]
    clause, scope = CLAUSES["A1"], scope_for(CLAUSES["A1"], subject, "float32", "strict", "quick")
    empty = [shape for shape in shapes if not drawn(clause, scope, 0, shape).dout.size]
    assert 2 * len(empty) < len(shapes)
    assert empty
    for _ in range(10):
        asked_for = [
            p for x, p in posed({"A1": clause}, subject.but(dtypes=("float32",)), "strict")
        ]
        assert len(asked_for) == 3
        assert all(p.dout.size and p.k.size for p in asked_for)


@pytest.mark.slow
@pytest.mark.parametrize("clauses", SPECIFICATIONS)
def test_what_compiles_is_asked_in_few_shapes_and_certified(clauses, tmp_path, monkeypatch):
    monkeypatch.setenv("SHAPES_MET", str(tmp_path / "met"))
    done = shell.run("certify", COMPILING, *shell.FEW, "--specification", clauses)
    assert done.returncode == 0, done.stdout
    assert "note          compiles for each shape; tested on " in done.stdout
    assert re.search(
        r"^testing compiles about \d+ programs and takes about \d+ s; ", done.stderr, re.MULTILINE
    )
    met = {*(tmp_path / "met").read_text().splitlines()}
    assert len(met) <= PROFILES["quick"].programs + BESIDES


def test_another_dtype_is_given_a_share_of_the_programs_and_something_for_each_clause(maskless):
    subject, chosen = maskless
    half = chosen.part(0.5)
    assert half.keys() == subject.palette.keys()
    assert all(shapes == subject.palette[n][: len(shapes)] for n, shapes in half.items())
    assert sum(map(len, half.values())) < sum(map(len, subject.palette.values()))
    assert chosen.part() == subject.palette


@pytest.mark.slow
def test_processes_of_a_run_share_the_programs_of_jax_and_leave_none(tmp_path, monkeypatch):
    text = "import os, numpy as np\ndef attend(query, key, value):\n"
    text += "    open('places', 'a').write(os.environ['JAX_COMPILATION_CACHE_DIR'] + '\\n')\n"
    text += "    s = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1], dtype=query.dtype)\n"
    text += "    e = np.exp(s - s.max(-1, keepdims=True))\n"
    (tmp_path / "mine.py").write_text(f"{text}    return e / e.sum(-1, keepdims=True) @ value\n")
    words = ("certify", "mine.py:attend", *shell.FEW, "--clause", "V2,K1", "--isolation", "fork")
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    for place in (None, str(tmp_path / "mine")):
        if place:
            monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", place)
        assert shell.run(*words, cwd=tmp_path).returncode == 0
        (used,) = {*(tmp_path / "places").read_text().splitlines()}
        assert used == place or not (place or Path(used).exists())
        (tmp_path / "places").unlink()


def test_what_does_not_compile_is_asked_in_all():
    certificate = certify("implementations.dense:attend", **OPTIONS, clauses="V2")
    assert not [note for note in certificate.notes if "compiles" in note]


@pytest.mark.slow
@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_which_clauses_are_selected_changes_no_problem(specification):
    options = {**OPTIONS, "specification": specification}
    every = certify(COMPILING, **options)
    some = certify(COMPILING, **options, clauses=("V2", "K1"))
    worst = {v.clause: v.worst for v in every.verdicts}
    assert every.passed
    assert {v.clause: v.worst for v in some.verdicts} == {x: worst[x] for x in ("A1", "V2", "K1")}


@pytest.mark.slow
@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_a_deviation_that_few_shapes_do_not_show_stays_on_the_list(specification):
    options = {**OPTIONS, "profile": "standard", "clauses": "V2", "deviations": {"V2": "published"}}
    options["specification"] = specification
    compiled, plain = (certify(x, **options) for x in (COMPILING, "implementations.dense:attend"))
    assert {v.clause: v.outcome for v in compiled.verdicts} == {"A1": "holds", "V2": "holds"}
    assert {v.clause: v.outcome for v in plain.verdicts} == {"A1": "holds", "V2": "violated"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("specification", "clauses"), [(SPECIFICATION, ("A1",)), deep("spec:CLAUSES", None)]
)
def test_a_fault_of_what_compiles_is_told_as_any_other(specification, clauses):
    certificate = certify(FAULTY, **OPTIONS, specification=specification, clauses=clauses)
    (cause,) = certificate.causes
    assert "M > 16" in cause.sentence


@pytest.mark.slow
def test_a_fault_of_a_layer_that_compiles_is_told_as_well():
    specification = f"{__name__}:OF_LAYERS"
    (cause,) = certify(FAULTY_LAYER, **OPTIONS, specification=specification).causes
    assert "M > 16" in cause.sentence


def test_no_clause_is_without_a_shape(maskless):
    subject, _ = maskless
    clauses = [CLAUSES[number] for number in subject.palette]
    assert all(subject.palette.values())
    for clause in clauses:
        scope = scope_for(clause, subject, "float32", "strict", "quick")
        shapes = {shapes_of(problem) for problem in series(clause, scope, 8, 0)}
        assert len(shapes) <= len(subject.palette[clause.number])


@pytest.mark.parametrize(
    ("where", "every"), [("H > 2 and N < M", 15), deep("H > 2 and N < M", 1), deep("causal", 1)]
)
def test_what_is_judged_somewhere_is_given_shapes_that_lie_there(where, every):
    """And not a few of those for everywhere, most of which lie outside."""
    subject, _ = planned(MASKLESS, "quick", where, every)
    holds = KINDS["attention"].features.sentence(where)
    given = {}
    for number in subject.palette:
        scope = scope_for(CLAUSES[number], subject, "float32", "strict", "quick")
        free = series(CLAUSES[number], replace(scope, palette=()), 100, 0)
        if sum(holds(problem, "") for problem in free) > 2:
            put = series(CLAUSES[number], scope, len(scope.palette), 0)
            given[number] = [holds(problem, "") for problem in put]
    assert len(given) > len(subject.palette) / 3
    assert all(map(all, given.values())), given


@pytest.mark.slow
@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_who_compiles_and_is_judged_somewhere_is_judged_by_as_many_clauses(specification):
    options = {**OPTIONS, "where": "N > 16", "specification": specification}
    found = [certify(x, **options) for x in (COMPILING, AT_ONCE)]
    slow, fast = ({v.clause for v in c.verdicts if v.outcome == "holds"} for c in found)
    assert slow >= fast
    assert fast


def test_what_is_asked_for_is_what_was_planned(maskless):
    """The places where clauses cut are settled with the shapes; few clauses find others."""
    subject, planner = maskless
    truth, seen = KINDS["attention"].truth(), set()
    for number in subject.palette:
        clause = CLAUSES[number]
        scope = scope_for(clause, subject, "float32", "strict", "quick")
        for problem in series(clause, scope, 4 * clause.effort, 0):
            seen |= programs_of(asked(clause, truth, problem))
    assert len(seen - planner.known) <= 2
    assert planner.left >= 0


def test_other_numbers_in_a_step_are_the_same_program():
    """A cache is given its text in steps, of which each has arrays beside the problem."""
    kind, clause = KINDS["cache"], about("cache")["C16"]
    problem = clause.over.problem(Numbered(3, shape=5), Scope("float32", kind.truth().answers))
    other = clause.over.problem(Numbered(4, shape=5), Scope("float32", kind.truth().answers))
    made, again = (asked(clause, kind.truth(), p) for p in (problem, other))
    assert len(made) > 2
    assert programs_of(made) == programs_of(again)
    assert len(programs_of(made)) <= 3


@pytest.mark.quick("sinusoidal")
@pytest.mark.parametrize(
    "kind", [deep("rotary"), "sinusoidal", "alibi", deep("feed-forward"), deep("merging")]
)
def test_in_few_shapes_as_many_mistakes_are_seen(kind):
    missed, palettes = [], {}
    for name, mistake in KINDS[kind].mistakes.items():
        if not mistake.harmless:
            subject = KINDS[kind].subjects[name]
            offers = subject.offers
            if offers not in palettes:
                palettes[offers] = planned(subject)[0].palette
            subject = subject.but(palette=palettes[offers])
            named = [clause for clause in about(kind).values() if name in clause.catches]
            refuted = [found(x, subject, d).violation for x in named for d in mistake.dtypes]
            missed += [] if any(refuted) else [name]
    assert not missed
