"""One kind of subject: all that the engine needs to know of it, in addition to its clauses.

Loading, probing, testing, reduction and the certificate are the same for all kinds. Everything that
differs is in one record, `Kind`: what every kind has, and its optional abilities
(`spec.abilities`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from spec.abilities import Causes, Conventions, Fits, Functions, Reports, Targets, Trials
from spec.alike import alike, told
from spec.clause import Clause
from spec.features import Vocabulary, of_class
from spec.mistake import Mistake
from spec.simplify import RECORDS, Simplification
from spec.trial import broken


def anywhere(_: Any) -> float:
    """1: nothing is known of other problems."""
    return 1.0


@dataclass(frozen=True)
class Kind:
    """One kind of subject, as the engine sees it.

    about: its name in clauses and records. noun: in words, with an article. problem: the class of
    its problems. definition: the number of the clause without which nothing is certified. core: a
    small problem of the basic case in a dtype. truth: the definition as a record. mistakes: the
    known bugs by name. load: the record of a function or a class that is plugged in. simplify: ways
    to a simpler problem, plainer numbers last. sections: a word for each letter. vocabulary: the
    words for problems; by default, those for options and lengths. meanings: their definitions
    (`spec.meanings`). The rest are its abilities.
    """

    about: str
    noun: str
    problem: type
    definition: str
    core: Callable[[str], Any]
    truth: Callable[[], Any]
    mistakes: Mapping[str, Mistake]
    load: Callable[..., Any]
    simplify: tuple[Simplification, ...] = RECORDS
    sections: Mapping[str, str] = field(default_factory=dict)
    vocabulary: Vocabulary | None = None
    meanings: Mapping[str, str] = field(default_factory=dict)
    targets: Targets = field(default_factory=Targets)
    functions: Functions = field(default_factory=Functions)
    trials: Trials = field(default_factory=Trials)
    conventions: Conventions = field(default_factory=Conventions)
    causes: Causes = field(default_factory=Causes)
    reports: Reports = field(default_factory=Reports)

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
            return (self.subjects[name], *self.causes.arithmetics(self.mistakes[name]))

        return named

    def looks_like(
        self, clauses: Sequence[Clause], record: Any, problem: Any, fits: Fits = anywhere
    ) -> tuple[str, ...]:
        """A line for each known bug, at most three, that explains a failure and fits others.

        clauses: the one that fails on the problem, then others that fail for the same cause. There
        may be no time for all known bugs, so those that they must reject are tried first.
        """
        caught = {name for clause in clauses for name in clause.catches}
        if self.causes.similar is not None:
            return self.causes.similar(self, caught, record, problem, fits)
        clause = clauses[0]
        violation = broken(clause, record, problem)
        if violation is None:
            return ()

        def explains(mistake: Mistake) -> float:
            known = (x for x in self.records(mistake.name) if alike(violation, clause, x, problem))
            return max(map(fits, known), default=0.0)

        return told(self.mistakes, caught, explains)
