"""All that the engine may ask of one kind of subject, beyond its clauses.

Loading, probing, judging, reduction and the certificate are the same for all kinds; what
differs stands in one record. What a kind leaves out has a default that claims nothing.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from spec.clause import Clause
from spec.comparison import Violation
from spec.features import Vocabulary, of_class
from spec.mistake import Mistake
from spec.picture import Pictures, no_pictures
from spec.simplify import RECORDS, Simplification, with_other_options
from spec.subject import Refused
from spec.trial import broken

MOST = 3  # names worth reading
SECONDS = 2.0  # a catalogue is not worth waiting for

ASKED = {"backward": "gradients", "weights": "the weights", "call": "a watched call"}

Guarded = Callable[[Any], Any]  # what a record is seen through where it is tried out
Problems = tuple[Any, ...]
Kinds = Mapping[str, Problems]
Counted = tuple[int, int, int]


def nothing(*_: Any) -> Mapping[Any, Any]:
    """Nothing is tried, nothing told apart."""
    return {}


def unknown(*_: Any) -> None:
    """Nothing is counted, no program is known, and there is no script."""


def unchanged(record: Any, *_: Any) -> Any:
    """The record as it is."""
    return record


def unasked(_: str) -> Any:
    """No problem, of a kind whose core tells all. Raises Refused."""
    raise Refused("nothing is asked")


def unfitted(_: Any, problem: Any) -> Any:
    """The problem, of a kind whose core is the same for all."""
    return problem


def never(_: Any) -> bool:
    """Nothing is told to be of this kind by the look of it."""
    return False


def in_words(record: Any, problem: Any) -> list[str]:
    """The kinds of problem that a problem is, in words."""
    return sorted(kind.removeprefix("takes ") for kind in record.kinds_of(problem))


@dataclass(frozen=True)
class Deviation:
    """Clauses that are broken whenever they are run, and why."""

    clauses: tuple[str, ...]
    reason: str


Known = Mapping[tuple[str, str], tuple[Deviation, ...]]  # by origin and device


@dataclass(frozen=True)
class Kind:
    """One kind of subject, as certification sees it.

    about: as clauses and records name it. noun: in words, with an article. problem: the class
    of its problems. definition: the number of the clause without which nothing is certified.
    first: the function that every record has, which is put a problem of the core before all else.
    told: whether something callable is of this kind by the look of it. layouts: of its arrays, and
    their axes in words. spellings: whose words a target may be called in.
    core: a small problem of the core in a dtype. kinds: for each kind of problem that may be
    refused, some of that kind; of_many: some that are of many kinds, of those answered. trials:
    for each function that may refuse even the core, its capability and problems for it.
    ask: how a function is put a problem by itself. fitted: a problem of the core of those who
    answer nearly all, as one of the core of a record.
    beyond: a problem that may be refused, and tells more of the form of an answer; by default
    there is none.
    truth: the definition as a record. simplify: ways to a simpler problem, the last of them by
    plainer numbers. twists: problems in which an option is another. mistakes: the known ones, by
    name. load: the record of a function or a class that is plugged in.
    under: a record as one that follows the defaults. telling: for each convention, problems on each
    of which its choices differ, and no others'; told_by: the clause that sees it, if it is not the
    definition's. shows: conventions that nobody declares, as a problem shows them in a dtype.
    precise: a problem that tells float64 from float32; trivial: one in which nothing
    is rounded in either.
    similar: known mistakes that explain a failure. at_once: several as one record, if they can be.
    calls: the lines of a script that shows a failure without this specification.
    words: what is special about a problem that a record of this kind is tried on; asked: its
    functions in words. coverage: how many rows of a problem were judged, of these capped and
    silent, where a clause counts them. program: the function or class whose outputs a record of
    our making shows; of a stranger's, None. known: what other people's are known to break.
    described: what a file says of how a target is built and called, if this kind has such files.
    lenses: what would make an answer right, in words: the record with that done, if it can be.
    telltale: functions that are wrong where another one is, each with that one.
    compares: for a function, the numbers of the clauses that hold its answer to any problem to the
    definition's. vocabulary: the words for problems; by default, those for options and lengths.
    pictures: what there is to look at in a problem beside its arrays, on a page.
    narrower: a record of which nothing is answered, asked about less and less. multiples: which
    sizes may be declared to be multiples of a number. tiles: of which number lengths may have to be
    multiples, where a kind of problem is refused at others. sections: letters, each with a word.
    """

    about: str
    noun: str
    problem: type
    definition: str
    core: Callable[[str], Any]
    truth: Callable[[], Any]
    mistakes: Mapping[str, Mistake]
    load: Callable[..., Any]
    first: str = "forward"
    told: Callable[[Any], bool] = never
    layouts: Mapping[str, str] = field(default_factory=lambda: {"bhld": ""})
    spellings: tuple[str, ...] = ()
    narrower: Callable[[Any], Iterable[Any]] = nothing
    multiples: tuple[str, ...] = ()
    pictures: Pictures = no_pictures
    tiles: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    kinds: Callable[[str], Kinds] = nothing
    of_many: Callable[[str, frozenset[str]], Iterable[Any]] = nothing
    trials: Callable[[str], Mapping[str, tuple[str, Problems]]] = nothing
    ask: Mapping[str, Callable[[Any, Any], Any]] = field(default_factory=dict)
    fitted: Callable[[Any, Any], Any] = unfitted
    beyond: Callable[[str], Any] = unasked
    simplify: tuple[Simplification, ...] = RECORDS
    twists: Simplification = with_other_options
    under: Callable[[Any, Mapping[str, str]], Any] = unchanged
    telling: Callable[[str], Mapping[str, Problems]] = nothing
    told_by: Mapping[str, str] = field(default_factory=dict)
    shows: Callable[[Any, str], Mapping[str, str]] = nothing
    precise: Callable[[str], Any] | None = None
    trivial: Callable[[str], Any] | None = None
    similar: Callable[[Clause, Any, Any], tuple[str, ...]] | None = None
    at_once: Callable[[Sequence[Mistake]], Any] = unknown
    calls: Callable[[Clause, Any, Mapping[str, str], Any], list[str] | None] = unknown
    words: Callable[[Any, Any], list[str]] = in_words
    asked: Mapping[str, str] = field(default_factory=lambda: ASKED)
    coverage: Callable[[Clause, Any, Any], Counted | None] = unknown
    program: Callable[[Any], Any] = unknown
    described: Callable[[str, Any], Mapping[str, Any]] | None = None
    known: Known = field(default_factory=dict)
    lenses: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    telltale: Mapping[str, str] = field(default_factory=dict)
    compares: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    vocabulary: Vocabulary | None = None
    sections: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def features(self) -> Vocabulary:
        """The words for problems of this kind."""
        return self.vocabulary or of_class(self.problem)

    @cached_property
    def subjects(self) -> Mapping[str, Any]:
        """The mistakes as records to be judged, by name."""
        return {
            name: self.load(mistake.target, name=name, backend="numpy")
            for name, mistake in self.mistakes.items()
        }

    def worded(self, function: str) -> str:
        """A function of a record in words."""
        return self.asked.get(function, function.replace("_", " "))

    def put(self, record: Any, name: str, problem: Any) -> Any:
        """What a function of the record answers to a problem, as the record can be put it."""
        function, problem = self.ask.get(name), self.fitted(record, problem)
        return function(record, problem) if function else getattr(record, name)(problem)

    def looks_like(self, clause: Clause, record: Any, problem: Any) -> tuple[str, ...]:
        """A line for each known mistake, at most three, that explains a failure."""
        if self.similar is not None:
            return self.similar(clause, record, problem)
        violation = broken(clause, record, problem)
        if violation is None:
            return ()

        def explains(mistake: Mistake) -> bool:
            return alike(violation, clause, self.subjects[mistake.name], problem)

        return told(self.mistakes, explains)


def told(mistakes: Mapping[str, Mistake], explains: Callable[[Mistake], bool]) -> tuple[str, ...]:
    """A line for each mistake that explains a failure; few, and none that would be waited for."""
    deadline = time.monotonic() + SECONDS
    found: list[str] = []
    for mistake in mistakes.values():
        if len(found) == MOST or time.monotonic() > deadline:
            break
        if not mistake.harmless and explains(mistake):
            found.append(mistake.line)
    return tuple(found)


def alike(violation: Violation | None, clause: Clause, record: Any, problem: Any) -> bool:
    """Whether a record breaks the clause on a problem as `violation` does."""
    return violation is not None and _same(violation, _broken(clause, record, problem))


def _broken(clause: Clause, record: Any, problem: Any) -> Violation | None:
    """How a mistake breaks the clause; one that trips over the problem does not."""
    if not clause.binds(record):
        return None
    try:
        return broken(clause, record, problem)
    except Exception:
        return None


def _same(one: Violation, other: Violation | None) -> bool:
    """Whether two violations are one: the same number at the same place, but for rounding."""
    if other is None:
        return False
    if one.place is None or other.place is None:
        return one.place is other.place and str(one) == str(other)
    if one.place.index != other.place.index:
        return False
    got, said = one.place.got, other.place.got
    return got == said or abs(got - said) <= one.place.budget or bool(np.isnan([got, said]).all())
