"""One kind of subject: all that the engine needs to know of it, in addition to its clauses.

Loading, probing, testing, reduction and the certificate are the same for all kinds. Everything that
differs is in one record, `Kind`. The default of each optional field claims nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from spec.alike import alike, told
from spec.clause import Clause
from spec.features import Vocabulary, of_class
from spec.mistake import Mistake
from spec.notation import Grade
from spec.picture import Pictures, no_pictures
from spec.simplify import RECORDS, Simplification, with_other_options
from spec.subject import Refused
from spec.trial import broken

ASKED = {"backward": "gradients", "weights": "the weights", "call": "a watched call"}

Guarded = Callable[[Any], Any]  # wraps a record while it is tried out
# The share of problems on which a known bug does as a target; 0 if it is wrong on others.
Fits = Callable[[Any], float]
Problems = tuple[Any, ...]
Kinds = Mapping[str, Problems]
Counted = tuple[int, int, int]


def nothing(*_: Any) -> Mapping[Any, Any]:
    """An empty mapping: there is nothing to try, and nothing to distinguish."""
    return {}


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


def anywhere(_: Any) -> float:
    """1: nothing is known of other problems."""
    return 1.0


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
class Kind:
    """One kind of subject, as the engine sees it.

    about: its name in clauses and records. noun: in words, with an article. problem: the class of
    its problems. definition: the number of the clause without which nothing is certified. first:
    the function that every record has; it gets a problem of the basic case before anything else
    runs. told: whether a callable is detected as this kind. layouts: of its arrays, and their axes
    in words. spellings: the API dialects in which a target may be called.
    core: a small problem of the basic case in a dtype. kinds: small problems of each kind that may
    be unsupported; of_many: problems that are of many of the supported kinds. trials: for each
    function that may be unsupported even in the basic case, its capability and problems for it.
    ask: how a function is called with a problem alone. fitted: a usual basic problem as one in the
    basic case of a record. beyond: a problem that may be unsupported and shows more of the form of
    an answer.
    truth: the definition as a record. simplify: ways to a simpler problem, plainer numbers last.
    twists: problems with an option changed. mistakes: the known bugs by name. load: the record of a
    function or a class that is plugged in.
    under: a record with declared conventions as one that follows the defaults. telling: for each
    convention, problems on which its choices differ and those of no other do. telling_else: others
    for a target that supports none of these. told_by: the clause that detects a convention in
    addition to the definition. shows: conventions that are never declared, as
    problems in a dtype reveal them. precise: a problem that distinguishes float64 from float32.
    trivial: one in which neither rounds.
    similar: the known bugs that explain a failure and fit other problems. at_once: several bugs as
    one record, if possible. arithmetics: a known bug as records that round otherwise, as eager
    programs do, for example. calls: the lines of a script that shows a failure, where the
    engine (`explaining.plain`) needs help to write it.
    words: what is special about a problem that a record is tried on. asked: its functions in words.
    coverage: the rows of a problem: tested, capped and silent ones (`spec.attention.rounding`), for
    clauses that count them. program: the function or class behind a record that this project made,
    else None. barred: raises Unsuitable for a record that answers and still cannot be tested, and
    says what to do. known: the deviations of other people's targets. described: what a file says
    about how a target is built and called, if the kind has such files. lenses: changes that might
    correct an answer, in words, each with the changed record or None. telltale: functions wrong
    where another one is, each with that one. compares: for a function, the clauses that compare its
    answer to any problem with the definition.
    vocabulary: the words for problems; by default, those for options and lengths. meanings: their
    definitions (`spec.meanings`). pictures: what a
    page shows of a problem apart from its arrays. narrower: for a record that answers nothing, the
    same record tested on less and less. multiples: the sizes that may be declared as multiples.
    tiles: for a kind that is unsupported at other lengths, the possible divisors of the lengths.
    sections: a word for each letter. several: the end of the error for a target that returns
    several results: what to do. hints: what to do about a cause, by the condition of which it
    consists. at_large: raises Violation if a record, in a dtype and a rounding model, is wrong on a
    problem of about so many scores.
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
    telling_else: Callable[[str], Mapping[str, Problems]] = nothing
    told_by: Mapping[str, str] = field(default_factory=dict)
    shows: Callable[[Any, str], Mapping[str, str]] = nothing
    precise: Callable[[str], Any] | None = None
    trivial: Callable[[str], Any] | None = None
    arithmetics: Callable[[Mistake], Iterable[Any]] = nothing
    similar: Callable[[Clause, Any, Any, Fits], tuple[str, ...]] | None = None
    at_once: Callable[[Sequence[Mistake]], Any] = unknown
    calls: Callable[[Clause, Any, Mapping[str, str], Any], list[str] | None] = unknown
    words: Callable[[Any, Any], list[str]] = in_words
    asked: Mapping[str, str] = field(default_factory=lambda: ASKED)
    coverage: Callable[[Clause, Any, Any], Counted | None] = unknown
    program: Callable[[Any], Any] = unknown
    barred: Callable[[Any, Guarded], None] = unknown
    described: Callable[[str, Any], Mapping[str, Any]] | None = None
    known: Known = field(default_factory=dict)
    lenses: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    telltale: Mapping[str, str] = field(default_factory=dict)
    compares: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    vocabulary: Vocabulary | None = None
    meanings: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)
    several: str = ""
    hints: Mapping[str, str] = field(default_factory=dict)
    at_large: Callable[[Any, str, Grade, float], None] | None = None

    @cached_property
    def features(self) -> Vocabulary:
        """The words for problems of this kind."""
        return self.vocabulary or of_class(self.problem)

    @cached_property
    def subjects(self) -> Mapping[str, Any]:
        """The known bugs as records to be tested, by name."""
        return {
            name: self.load(mistake.target, name=name, backend="numpy")
            for name, mistake in self.mistakes.items()
        }

    @cached_property
    def records(self) -> Callable[[str], tuple[Any, ...]]:
        """The records of a known bug by its name: as it is, and in other arithmetics."""

        @cache
        def named(name: str) -> tuple[Any, ...]:
            return (self.subjects[name], *self.arithmetics(self.mistakes[name]))

        return named

    def worded(self, function: str) -> str:
        """A function of a record in words."""
        return self.asked.get(function, function.replace("_", " "))

    def put(self, record: Any, name: str, problem: Any) -> Any:
        """The answer of a record's function to a problem, fitted to the record's basic case."""
        function, problem = self.ask.get(name), self.fitted(record, problem)
        return function(record, problem) if function else getattr(record, name)(problem)

    def looks_like(
        self, clause: Clause, record: Any, problem: Any, fits: Fits = anywhere
    ) -> tuple[str, ...]:
        """A line for each known bug, at most three, that explains a failure and fits others."""
        if self.similar is not None:
            return self.similar(clause, record, problem, fits)
        violation = broken(clause, record, problem)
        if violation is None:
            return ()

        def explains(mistake: Mistake) -> float:
            known = (x for x in self.records(mistake.name) if alike(violation, clause, x, problem))
            return max(map(fits, known), default=0.0)

        return told(self.mistakes, explains)
