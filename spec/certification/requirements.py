"""Requirements: what a target has to support and compute correctly, so that refusing is no way out.

The words are those of the specification. For each kind of target they are its results (gradients,
log-sum-exp), its options (boolean mask), the words for problems that mean the same as an option
(mask, grouped heads), and its sections (masks, causality). A word in the singular or the plural,
with hyphens or spaces, is the same word.

A target meets a requirement in a format if

* it supports every capability of the requirement there,
* it answers each problem of these capabilities whose options are all required,
* a clause that needs one of them passes; none of those that need only what is required fails, is
  known to fail, or is not run.

An option is one that some clause needs, or a combination ("a mask and causal together"), and all of
them are requirements as well. So a problem may be refused only for an option that nobody requires:
a mask with a scale, if masks are required and a scale is not.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from spec.backends import Unsuitable
from spec.backends.unknown import hint
from spec.certification.judging.judging import differentiates
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.outcomes import SAID
from spec.certification.ledger.untested import in_nouns
from spec.certification.starting import COMMAND
from spec.clause import Clause
from spec.features import joined
from spec.kinds import KINDS
from spec.laws import CLAUSES
from spec.subject import Backward

ARTICLE = re.compile(r"^(?:an?|the) ")
LEFT = ("violated", "deviates", "blocked", "crashed")  # outcomes of what does not hold
PLURAL = re.compile(r"(?<=[a-z]{2})s\b")
Capabilities = frozenset[str]


@dataclass(frozen=True)
class Feature:
    """A requirement of one kind of target: a word, its capabilities, and its sections."""

    word: str
    capabilities: Capabilities
    sections: frozenset[str] = frozenset()

    def concerns(self, clause: Clause) -> bool:
        """Whether a clause is about it."""
        return bool(clause.needs & self.capabilities) or clause.section in self.sections


@cache
def features(about: str) -> Mapping[str, Feature]:
    """The requirements of a kind of target, by their words in one form."""
    found: dict[str, Feature] = {}
    for word, capabilities, sections in (*_results(about), *_options(about), *_sections(about)):
        bare = ARTICLE.sub("", word)
        if "," in bare:  # which separates requirements, and each of these has another word
            continue
        known = found.get(_form(bare), Feature(bare, frozenset()))
        both = known.capabilities | capabilities, known.sections | sections
        found[_form(bare)] = Feature(bare if sections else known.word, *both)
    return found


Found = Iterator[tuple[str, Capabilities, frozenset[str]]]


def _results(about: str) -> Found:
    kind = KINDS[about]
    for capability, function in kind.truth().offering.items():
        for word in (kind.functions.worded(function), in_nouns(capability)):
            yield word, frozenset({str(capability)}), frozenset()


def _options(about: str) -> Found:
    """Options by their nouns; then by the first word that holds for exactly their problems."""
    small, truth = _small(about), KINDS[about].truth()
    for capability in small:
        yield in_nouns(capability), frozenset({capability}), frozenset()
    alone, named = small.keys() - combined(about), set[Capabilities]()
    core = KINDS[about].core("float64")
    every = [(p, truth.kinds_of(p)) for problems in (*small.values(), (core,)) for p in problems]
    for word, holds in KINDS[about].features.words.items() if small else ():
        mine = frozenset(x for x in alone if small[x] and all(map(holds, small[x])))
        if mine and mine not in named and all(bool(holds(p)) == bool(mine & x) for p, x in every):
            named.add(mine)
            yield word, mine, frozenset()


def _sections(about: str) -> Found:
    """Sections with what all of their clauses need."""
    for letter, word in KINDS[about].sections.items():
        mine = [x.needs for x in CLAUSES.values() if (x.about, x.section) == (about, letter)]
        needed = reduce(frozenset.intersection, mine)
        if needed or _form(word) in {_form(ARTICLE.sub("", x)) for x, *_ in _options(about)}:
            yield word, frozenset(map(str, needed)), frozenset({letter})
        elif len(KINDS[about].sections) == 1:  # the kind itself
            yield word, frozenset(), frozenset({letter})


def _small(about: str) -> Mapping[str, Sequence[Any]]:
    """The small problems of each option."""
    return {str(name): x for name, x in KINDS[about].trials.kinds("float64").items()}


@cache
def combined(about: str) -> Capabilities:
    """The options that never come alone: each of their small problems has another one as well."""
    truth = KINDS[about].truth()
    held = {x: [truth.kinds_of(p) for p in problems] for x, problems in _small(about).items()}
    return frozenset(x for x, kinds in held.items() if kinds and len(reduce(_both, kinds)) > 1)


@cache
def options(about: str) -> Capabilities:
    """The options that a problem may have: combinations, and what some clause needs."""
    needed = {str(x) for c in CLAUSES.values() if c.about == about for x in c.needs}
    return combined(about) | (needed & _small(about).keys())


def _both(one: Capabilities, other: Capabilities) -> Capabilities:
    return one & other


def _form(word: str) -> str:
    """A word without regard to hyphens, capitals and the plural."""
    return PLURAL.sub("", word.lower().replace("-", " ").replace("_", " ").strip())


def checked(words: Iterable[str]) -> tuple[str, ...]:
    """The words themselves, each once. Raises Unsuitable for one that no kind of target has."""
    known = {form: x.word for about in KINDS for form, x in features(about).items()}
    listed = f"`{COMMAND} list requirements` has all of them"
    wanted = dict.fromkeys(words)
    for word in wanted:
        if _form(word) not in known:
            raise Unsuitable(f"unknown requirement {word!r}{hint(word, known.values())}: {listed}")
    return (*wanted,)


@dataclass(frozen=True)
class Results:
    """The results of a target: its clauses, what is known before any of them, and the verdicts.

    formats: those in which a requirement has to be met; those of the request, or else those that
    the target has.
    """

    clauses: Mapping[str, Clause]
    survey: Survey
    verdicts: Sequence[Verdict]
    formats: Sequence[str]


def lacking(words: Iterable[str], results: Results) -> dict[str, str]:
    """Each requirement -> why it is not met, or "" if it is."""
    known = features(results.survey.about)
    wanted = {word: known.get(_form(word)) for word in words}
    every = frozenset(x for found in wanted.values() if found for x in found.capabilities)
    return {
        word: f"{results.survey.about} has no such requirement"
        if found is None
        else next(_reasons(found, every, results), "")
        for word, found in wanted.items()
    }


def _reasons(feature: Feature, every: Capabilities, results: Results) -> Iterator[str]:
    """Yield why a requirement is not met. every: the capabilities of all requirements."""
    trained = bool(every & {*Backward})
    for dtype in results.formats:
        where, supported = f" [{dtype}]", frozenset(results.survey.supports.get(dtype, ()))
        if lost := feature.capabilities - supported:
            yield f"not supported: {joined(map(in_nouns, sorted(lost)))}{where}"
        for refusal in results.survey.refusals if trained else ():
            if refusal.dtype == dtype and refusal.what in feature.capabilities:
                yield f"not supported: gradients with {in_nouns(refusal.what)}{where}"
        mine = [v for v in results.verdicts if v.dtype == dtype]
        about = [v for v in mine if feature.concerns(results.clauses[v.clause])]
        for v in mine:
            if kinds := _refused(feature, every, results, v, trained):
                said = joined(map(in_nouns, kinds))
                yield f"{v.clause} has problems that raise an exception, with {said}{where}"
        for v in about:
            spared = results.clauses[v.clause].needs & (options(results.survey.about) - every)
            if v.outcome in LEFT and v.force == "must" and not spared:
                yield f"{v.clause}: {SAID[v.outcome].words}{where}"
        if not any(v.outcome == "holds" for v in about):
            yield f"no clause about it passes{where}"


def _refused(
    feature: Feature, every: Capabilities, results: Results, verdict: Verdict, trained: bool
) -> tuple[str, ...] | None:
    """The kinds of a problem that was refused and should not have been; None if there is none."""
    clause, about = results.clauses[verdict.clause], results.survey.about
    if differentiates(clause) and not trained:
        return None
    offering = {str(x) for x in KINDS[about].truth().offering}
    result = bool(clause.needs & feature.capabilities & offering)
    spared = options(about) - every
    for kinds in verdict.refused_kinds:
        held = frozenset(kinds)
        if not held & spared and (result or held & feature.capabilities):
            return kinds
    return None


def listed() -> Iterator[tuple[str, str]]:
    """Yield each word for a requirement, and the capabilities that it stands for."""
    for about in KINDS:
        for feature in features(about).values():
            yield f"{about}: {feature.word}", ", ".join(sorted(feature.capabilities))
