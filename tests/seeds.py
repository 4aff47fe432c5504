"""Mistakes of every kind, refused for any seed: by who does not compile, and by who does.

    python -m tests.seeds --seeds 10          two minutes without compiling, forty with palettes

A mistake is refused where a clause that binds it is broken, in one of the formats where it shows,
at the standard profile. Who compiles is asked in the few shapes of a palette: that of what offers
the same, which is chosen once a seed. A fault at a single size is one that no palette can see.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from spec.certification.judging.plan import telling
from spec.clause import Clause
from spec.kind import Kind
from spec.kinds import KINDS
from spec.mistake import Mistake
from spec.subject import Subject
from tests.judging import bound, found, planner

EVERY = [(kind, m) for kind in KINDS.values() for m in kind.mistakes.values() if not m.harmless]


def refused(kind: Kind, mistake: Mistake, seed: int, compiles: bool = False) -> bool:
    """Whether some clause is broken; those are tried first that name it."""
    subject = kind.subjects[mistake.name]
    if compiles:
        subject = subject.but(palette=palette(subject, mistake.dtypes[0], seed))
    clauses = in_turn(kind, mistake, subject)
    with np.errstate(all="ignore"):
        return any(
            found(c, subject, d, seed=seed).violation for d in mistake.dtypes for c in clauses
        )


def in_turn(kind: Kind, mistake: Mistake, subject: Subject) -> list[Clause]:
    """The clauses that bind a subject: those that name the mistake, then what tells most."""
    clauses = {clause.number: clause for clause in bound(subject)}
    told = [clauses[number] for number in telling(clauses.values(), kind.definition)]
    return sorted(told, key=lambda clause: mistake.name not in clause.catches)


_known: dict[Any, Any] = {}


def palette(subject: Subject, dtype: str, seed: int) -> Any:
    """The shapes of each clause, for who offers what this subject does."""
    offered = subject.about, subject.offers, subject.differentiates
    key = *offered, *sorted(subject.multiples.items()), seed
    if key not in _known:
        _known[key] = planner(subject, dtype, seed=seed).palette(bound(subject))
    return _known[key]


def missed(seeds: int, compiles: bool) -> Iterator[tuple[str, int]]:
    """The mistakes that are not refused, and for which seed."""
    for seed in range(seeds):
        for kind, mistake in EVERY:
            if not refused(kind, mistake, seed, compiles):
                yield mistake.name, seed


def main() -> int:
    """Print what is missed, in both settings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    count = parser.parse_args().seeds
    for compiles in (False, True):
        left = [*missed(count, compiles)]
        for name in dict.fromkeys(name for name, _ in left):
            print(f"    {name}: seeds {', '.join(str(s) for x, s in left if x == name)}")
        who = "who compiles" if compiles else "who does not compile"
        print(f"{who}: {len(left)} of {count * len(EVERY)} are not refused", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
