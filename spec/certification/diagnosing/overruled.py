"""Conventions that a known bug explains: a fault is no choice because part of it looks like one.

A target that fills masked scores with -1e9 gives uniform weights to a fully masked query, as under
a convention. If another cause looks like that bug, which follows the convention just as well, the
bug explains more: the report names it first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spec.abilities import unchanged
from spec.certification.judging.cause import Cause
from spec.certification.target.recognising import Recognised, option, recognised
from spec.kind import Kind

EXPLAINED = "explained by the known bug that cause {} looks like: correct that first"


def overruled(kind: Kind, causes: Sequence[Cause], found: Recognised) -> dict[str, int]:
    """The conventions that the known bug of a cause follows as well, and the number of the cause.

    By name. A cause that a convention corrects has no bug that explains more, and a bug that is
    nothing but a convention explains no more than that.
    """
    known: dict[str, int] = {}
    for number, cause in enumerate(causes, start=1) if found.choices else ():
        lines = (cause.counterexample and cause.counterexample.looks_like) or ()
        bugs = (kind.mistakes.get(line.split(" ")[0]) for line in lines)
        for mistake in () if cause.lens else filter(None, bugs):
            record = kind.subjects[mistake.name]
            same = recognised(record, record.dtypes[0], {}, unchanged).choices.items()
            more = (same & found.choices.items()) - {mistake.convention}
            known |= {name: number for name, _ in more if name not in known}
    return known


def told_after(causes: Sequence[Cause], found: Recognised, known: Mapping[str, int]) -> list[Cause]:
    """The causes; the change of one that such a convention corrects names the bug before it."""
    options = {option(name, found.choices[name]): number for name, number in known.items()}
    told = []
    for cause in causes:
        said = [EXPLAINED.format(n) for x, n in options.items() if x in cause.lens]
        told.append(replace(cause, lens="; else ".join([*said[:1], cause.lens])))
    return told


def declared_in(lens: str, found: Recognised) -> dict[str, str]:
    """The conventions that a change declares."""
    return {name: x for name, x in found.choices.items() if option(name, x) in lens}


def advice(causes: Sequence[Cause], found: Recognised, known: Mapping[str, int]) -> tuple[str, ...]:
    """The advice on conventions, without those to declare that a bug explains.

    Of these only those are listed that correct no cause, which else says so.
    """
    left = {name: x for name, x in found.choices.items() if name not in known}
    fits = (
        f"the convention {name}={found.choices[name]} fits, but is {EXPLAINED.format(number)}"
        for name, number in known.items()
        if not any(option(name, found.choices[name]) in cause.lens for cause in causes)
    )
    return (*replace(found, choices=left).advice, *fits)
