"""Clauses that other people's implementations are known to break, each with its reason.

They follow what is called, not its name, and they stand here or are declared by the person who
asks: nothing that is judged can carry any, and no clause of a definition deviates.

A deviation of the very thing is strict: it is reported as soon as the clause holds again. What
stands here was found by the specification itself, at the versions named.

What breaks one clause for certain may break others now and then, when they
happen to draw such a problem. They would be excused of anything else as well if
they were listed, so they are not; they do not draw such problems here instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spec.attention.domain import IDLE, Problems
from spec.certification.target.following import is_nothing_but, named
from spec.clause import Clause


@dataclass(frozen=True)
class Deviation:
    """Clauses that are broken whenever they are run, and why.

    aside: the kinds of mask that show it to clauses that draw other masks as well.
    """

    clauses: tuple[str, ...]
    reason: str
    aside: tuple[str, ...] = ()


_ODD_SCALES = Deviation(
    ("C14",),
    "torch 2.13 on a CPU: the flash kernel adds -inf for the future before it scales, so "
    "that causal attention with a scale of zero or less is NaN (smallest: one query, two keys)",
)
_NO_KEYS = Deviation(
    ("T10",),
    "torch 2.13: without keys, zero times the sum of all queries is added to zeros, which is NaN "
    "where that sum overflows (pytorch/pytorch#175063; smallest: one query of width two)",
)
_IDLE_IN_JAX = Deviation(
    ("M9", "M11", "M12"),
    "JAX 0.10: a query that sees no key is the mean of all values under a boolean mask; under one "
    "of -inf it is NaN, and so are the gradients of all keys and values (smallest: one query, one "
    "key)",
    aside=IDLE,
)
_ASKED_FOR_WEIGHTS = Deviation(
    ("L32",),
    "torch 2.13: a query that may attend to nothing is NaN as soon as weights are asked for, its "
    "output and its weights (pytorch/pytorch#160064; smallest: one query, one key, "
    "which is forbidden)",
)
_FAST_PATH = Deviation(
    ("L45",),
    "torch 2.13: in evaluation, on the fast path (one text, biases, an even number of heads), a "
    "query that may attend to nothing is NaN (pytorch/pytorch#190486; smallest: two heads, one "
    "token, which is padding)",
)
_JAX = "implementations.adapters.jax_attention"

# By origin and device: whatever is called there, under any name; what is not here has none.
KNOWN: Mapping[tuple[str, str], tuple[Deviation, ...]] = {
    ("torch.nn.functional:scaled_dot_product_attention", "cpu"): (_ODD_SCALES, _NO_KEYS),
    ("oracles.sdpa:flash", "cpu"): (_ODD_SCALES, _NO_KEYS),
    ("oracles.sdpa:math", "cpu"): (_NO_KEYS,),
    ("torch.nn:MultiheadAttention", "cpu"): (_ASKED_FOR_WEIGHTS, _FAST_PATH),
    (f"{_JAX}:attend", "cpu"): (_IDLE_IN_JAX,),
    (f"{_JAX}:compiled", "cpu"): (_IDLE_IN_JAX,),
}


@dataclass(frozen=True)
class Deviations:
    """What one subject is known to break.

    reasons: number of a clause -> why. aside: the same number -> the kinds of mask that show it,
    which no clause without a deviation draws. strict: the numbers of which each has to be seen;
    what calls something with arguments of its own may well avoid what that is known for.
    """

    reasons: Mapping[str, str]
    strict: tuple[str, ...] = ()
    aside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def and_declared(self, reasons: Mapping[str, str]) -> Deviations:
        """Those that the person who asks declares as well, each said to be no more than that."""
        said = {number: f"declared: {' '.join(x.split())}" for number, x in reasons.items()}
        return replace(self, reasons={**self.reasons, **said}, strict=(*self.strict, *said))

    def put(self, clause: Clause) -> Clause:
        """The clause as it is put to the subject: one without a deviation draws nothing aside."""
        domain = clause.over
        if clause.number in self.reasons or not isinstance(domain, Problems):
            return clause
        aside = {kind for kinds in self.aside.values() for kind in kinds}
        masks = tuple(kind for kind in domain.masks if kind not in aside)
        if not masks or masks == domain.masks:
            return clause  # it is about these alone, or about none of them
        return replace(clause, over=replace(domain, masks=masks))

    def left_aside(self, clauses: Iterable[Clause]) -> tuple[str, ...]:
        """A line about those of `clauses` that are put fewer problems, if there are any."""
        changed = dict.fromkeys(c.number for c in clauses if self.put(c) is not c)
        words = f"problems that {', '.join(self.aside)} are about were not put to "
        return (words + ", ".join(changed),) if changed else ()


def known(program: Any, device: str) -> Deviations:
    """The deviations of a function or a class, under whatever name and thin cover, on a device."""
    found = {
        origin: deviations
        for (origin, where), deviations in KNOWN.items()
        if where == device and is_nothing_but(program, named(origin))
    }
    listed = [one for deviations in found.values() for one in deviations]
    itself = any(program is named(origin) for origin in found)
    reasons = {number: one.reason for one in listed for number in one.clauses}
    return Deviations(
        reasons,
        strict=tuple(reasons) if itself else (),
        aside={number: one.aside for one in listed for number in one.clauses if one.aside},
    )
