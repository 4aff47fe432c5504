"""The optional abilities of a kind of subject: a record for each part of the engine that asks.

A kind gives what it has (`spec.kind`). The default of each field claims nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spec.clause import Clause
from spec.mistake import Mistake
from spec.notation import Grade
from spec.picture import Pictures, no_pictures
from spec.simplify import Simplification, with_other_options
from spec.subject import Refused

WORDS = {"backward": "gradients", "weights": "the weights", "call": "a watched call"}

Guarded = Callable[[Any], Any]  # wraps a record while it is tried out
# The share of problems on which a known bug does as a target; 0 if it is wrong on others.
Fits = Callable[[Any], float]
Problems = tuple[Any, ...]
Kinds = Mapping[str, Problems]
Counted = tuple[int, int, int]
Described = Callable[[str, Any], Mapping[str, Any]]


def nothing(*_: Any) -> Mapping[Any, Any]:
    """An empty mapping: there is nothing to try, and nothing to distinguish."""
    return {}


def none(_: Any) -> tuple[()]:
    """No options: a domain of this kind has all, or says in its clauses which."""
    return ()


def unknown(*_: Any) -> None:
    """None: there is no count, no program and no script."""


def unchanged(record: Any, *_: Any) -> Any:
    """The record itself."""
    return record


def unasked(_: str) -> Any:
    """Raises Refused: the basic case of this kind shows enough, and there is no other problem."""
    raise Refused("there is no other problem")


def unfitted(_: Any, problem: Any) -> Any:
    """The problem itself, for a kind whose basic case is the same for all subjects."""
    return problem


def never(_: Any) -> bool:
    """False: no target is detected as being of this kind."""
    return False


def in_words(record: Any, problem: Any) -> list[str]:
    """The kinds of problem that a problem belongs to, in words."""
    return sorted(kind.removeprefix("takes ") for kind in record.kinds_of(problem))


@dataclass(frozen=True)
class Deviation:
    """Clauses that fail in every run, and the reason."""

    clauses: tuple[str, ...]
    reason: str


Known = Mapping[tuple[str, str], tuple[Deviation, ...]]  # by origin and device


@dataclass(frozen=True)
class Targets:
    """The form of targets, the ways to call and describe them, and those that are known.

    told: whether a callable is detected as this kind. layouts: of its arrays, and their axes in
    words. spellings: the API dialects in which a target may be called. multiples: the sizes that
    may be declared as multiples. several: the end of the error for a target that returns several
    results: what to do. described: what a file says about how a target is built and called, if the
    kind has such files. narrower: for a record that answers nothing, the same record tested on less
    and less. barred: raises Unsuitable for a record that answers and still cannot be tested, and
    says what to do. program: the function or class behind a record that this project made, else
    None. known: the deviations of other people's targets.
    """

    told: Callable[[Any], bool] = never
    layouts: Mapping[str, str] = field(default_factory=lambda: {"bhld": ""})
    spellings: tuple[str, ...] = ()
    multiples: tuple[str, ...] = ()
    several: str = ""
    described: Described | None = None
    narrower: Callable[[Any], Iterable[Any]] = nothing
    barred: Callable[[Any, Guarded], None] = unknown
    program: Callable[[Any], Any] = unknown
    known: Known = field(default_factory=dict)


@dataclass(frozen=True)
class Functions:
    """The functions of a record, by name.

    first: the one that every record has; it gets a problem of the basic case before anything else
    runs. ask: how one is called with a problem alone. fitted: a usual basic problem as one in the
    basic case of a record. words: what each computes, in words. special: what is special about a
    problem that one gets, in words. compares: the clauses that compare the answer of one to any
    problem with the definition. parts: for each of these that compares one of several results, the
    name of that. telltale: those that are wrong where another one is, each with that
    one.
    """

    first: str = "forward"
    ask: Mapping[str, Callable[[Any, Any], Any]] = field(default_factory=dict)
    fitted: Callable[[Any, Any], Any] = unfitted
    words: Mapping[str, str] = field(default_factory=lambda: WORDS)
    special: Callable[[Any, Any], list[str]] = in_words
    compares: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    telltale: Mapping[str, str] = field(default_factory=dict)

    @property
    def comparing(self) -> set[str]:
        """The clauses that compare any answer with the definition."""
        return {number for numbers in self.compares.values() for number in numbers}

    def worded(self, name: str) -> str:
        """A function in words."""
        return self.words.get(name, name.replace("_", " "))

    def group(self, name: str) -> str:
        """The result that a function computes, in words; empty for the first function."""
        name = self.telltale.get(name, name)
        return "" if name == self.first else self.worded(name)

    def put(self, record: Any, name: str, problem: Any) -> Any:
        """The answer of a record's function to a problem, fitted to the record's basic case."""
        function, problem = self.ask.get(name), self.fitted(record, problem)
        return function(record, problem) if function else getattr(record, name)(problem)


@dataclass(frozen=True)
class Trials:
    """The problems that a target gets in addition to those of the clauses.

    kinds: small problems of each kind that may be unsupported, in a dtype. of_many: problems that
    are of many of the supported kinds. of_functions: for each function that may be unsupported even
    in the basic case, its capability and problems for it. learned: functions that give the gradient
    of a parameter of a model, each with the note on a target that gives other gradients and not
    this one. tiles: for a kind of problem that is unsupported at other lengths, the possible
    divisors of the lengths. beyond: a problem that may be unsupported and shows more of the form of
    an answer. precise: one of float64 that distinguishes it from float32, then those in which
    neither rounds. at_large: raises Violation if a record, in a dtype and a rounding model, is
    wrong on a problem of about so many scores.
    """

    kinds: Callable[[str], Kinds] = nothing
    of_many: Callable[[str, frozenset[str]], Iterable[Any]] = nothing
    of_functions: Callable[[str], Mapping[str, tuple[str, Problems]]] = nothing
    learned: Mapping[str, str] = field(default_factory=dict)
    tiles: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    beyond: Callable[[str], Any] = unasked
    precise: Problems = ()
    at_large: Callable[[Any, str, Grade, float], None] | None = None


@dataclass(frozen=True)
class Conventions:
    """The ways to follow conventions, and to find which of them a target follows.

    under: a record with declared conventions as one that follows the defaults. telling: for each
    convention, problems on which its choices differ and those of no other do. telling_else: others
    for a target that supports none of these. told_by: the clause that detects a convention in
    addition to the definition. telling_also: problems on which the definition alone detects a
    convention that does not show in those of telling. shows: conventions that are never declared,
    as problems in a dtype reveal them.
    """

    under: Callable[[Any, Mapping[str, str]], Any] = unchanged
    telling: Callable[[str], Mapping[str, Problems]] = nothing
    telling_else: Callable[[str], Mapping[str, Problems]] = nothing
    told_by: Mapping[str, str] = field(default_factory=dict)
    telling_also: Callable[[str], Mapping[str, Problems]] = nothing
    shows: Callable[[Any, str], Mapping[str, str]] = nothing


@dataclass(frozen=True)
class Causes:
    """The ways to find the cause of a failure.

    twists: problems with an option changed. lenses: changes that might correct an answer, in words,
    each with the changed record or None. arithmetics: a known bug as records that round otherwise,
    as eager programs do, for example. at_once: several known bugs as one record, if possible.
    similar: of a kind (`spec.kind.Kind`), the known bugs that explain the failure of a record and
    fit other problems.
    """

    twists: Simplification = with_other_options
    lenses: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    arithmetics: Callable[[Mistake], Iterable[Any]] = nothing
    at_once: Callable[[Sequence[Mistake]], Any] = unknown
    similar: Callable[[Any, Any, Any, Any, Fits], tuple[str, ...]] | None = None


@dataclass(frozen=True)
class Reports:
    """The parts of certificates, scripts and pages that depend on the kind.

    coverage: the rows of a problem: tested, capped and silent ones (`spec.attention.rounding`), for
    clauses that count them. largest: the sizes of a problem, of which a certificate names the
    largest. calls: the lines of a script that shows a failure, where the engine
    (`explaining.plain`) needs help to write it. hints: what to do about a cause, by the condition
    of which it consists. pictures: what a page shows of a problem apart from its arrays. excluded:
    the options that no problem of a domain has, in words.
    """

    coverage: Callable[[Clause, Any, Any], Counted | None] = unknown
    largest: Callable[[Any], Mapping[str, int]] = nothing
    calls: Callable[[Clause, Any, Mapping[str, str], Any], list[str] | None] = unknown
    hints: Mapping[str, str] = field(default_factory=dict)
    pictures: Pictures = no_pictures
    excluded: Callable[[Any], tuple[str, ...]] = none
