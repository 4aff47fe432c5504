"""Clauses that other people's implementations are known to break, each with its reason.

A deviation is strict: it is reported as soon as the clause holds again. What
stands here was found by the specification itself, at the versions named.

What breaks one clause for certain may break others now and then, when they
happen to draw such a problem. They would be excused of anything else as well if
they were listed, so they are not; they do not draw such problems here instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from spec.clause import Clause
from spec.problems import IDLE, Problems


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

# By the target's origin and the device; a name that is not here has none.
KNOWN: Mapping[tuple[str, str], tuple[Deviation, ...]] = {
    ("torch.nn.functional:scaled_dot_product_attention", "cpu"): (_ODD_SCALES, _NO_KEYS),
    ("oracles.sdpa:flash", "cpu"): (_ODD_SCALES, _NO_KEYS),
    ("oracles.sdpa:math", "cpu"): (_NO_KEYS,),
    ("torch.nn:MultiheadAttention", "cpu"): (_ASKED_FOR_WEIGHTS, _FAST_PATH),
    ("torch.nn.modules.activation:MultiheadAttention", "cpu"): (_ASKED_FOR_WEIGHTS, _FAST_PATH),
    (f"{_JAX}:attend", "cpu"): (_IDLE_IN_JAX,),
    (f"{_JAX}:compiled", "cpu"): (_IDLE_IN_JAX,),
}


def known(origin: str, device: str) -> Mapping[str, str]:
    """The deviations of the implementation that is imported as `origin`, on a device."""
    deviations = KNOWN.get((origin, device), ())
    return {number: found.reason for found in deviations for number in found.clauses}


def narrowed(clauses: Mapping[str, Clause], origin: str, device: str) -> Mapping[str, Clause]:
    """The clauses as they are put to `origin`: those without a deviation draw nothing aside."""
    aside = {kind for found in KNOWN.get((origin, device), ()) for kind in found.aside}
    excused = known(origin, device)
    return {n: c if n in excused else _without(c, aside) for n, c in clauses.items()}


def left_aside(clauses: Mapping[str, Clause], origin: str, device: str) -> tuple[str, ...]:
    """A line about those of `clauses` that `narrowed` changes, if there are any."""
    put = narrowed(clauses, origin, device)
    changed = ", ".join(number for number, clause in clauses.items() if put[number] is not clause)
    deviating = ", ".join(known(origin, device))
    return (f"problems that {deviating} are about were not put to {changed}",) if changed else ()


def _without(clause: Clause, aside: set[str]) -> Clause:
    """The clause on problems with other masks; as it is if it is about these alone."""
    domain = clause.over
    if not isinstance(domain, Problems):
        return clause
    masks = tuple(kind for kind in domain.masks if kind not in aside)
    if not masks or masks == domain.masks:
        return clause
    return replace(clause, over=replace(domain, masks=masks))
