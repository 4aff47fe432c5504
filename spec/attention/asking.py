"""The options that a problem of a domain has, among those that an implementation supports.

Each is drawn after the others are known: a pair that is not supported is not drawn. If a domain
requires an option, it omits the options that are not supported together with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from spec.attention import masks as kinds
from spec.attention import places, texts
from spec.attention.conventions import as_chosen
from spec.attention.options import (
    CAP,
    CAUSAL,
    FIRST,
    MASK,
    QUERY_POSITIONS,
    QUERY_SEGMENTS,
    SINKS,
    SLOPES,
    WINDOW,
    Capability,
    together,
)
from spec.attention.parameter import Parameter
from spec.choices import Choices
from spec.domain import Scope
from spec.formats import rounded
from spec.notation import Array
from spec.sizes import Sizes
from spec.stream import Stream
from spec.subject import holding

if TYPE_CHECKING:
    from spec.attention.domain import Problems

SCALES = (0.5, 2.0, 0.3, 1.0)
CAPS = (0.5, 1.0, 3.0, 8.0, 30.0, 50.0)  # the last two as deployed; the first of few are reached
ODD_SCALES = (0.0, -0.25)
FAR = (30.0, 30.0, -30.0, -np.inf)  # sinks: beside them no key counts, or they count for nothing
ALONE = {
    WINDOW: Capability.WINDOW,
    FIRST: Capability.FIRST,
    CAP: Capability.CAP,
    SINKS: Capability.SINKS,
    SLOPES: Capability.SLOPES,
    QUERY_SEGMENTS: Capability.SEGMENTS,
    QUERY_POSITIONS: Capability.POSITIONED,
}
ODD_SLOPES = (0.0, -0.125, -1.0, 0.3, 4.0, 16.0)  # beside the last two no key counts but the next


def kind(choices: Choices, domain: Problems, answers: frozenset[str]) -> tuple[str, bool]:
    """The kind of mask and whether it is causal, of what the domain and the scope share."""
    allowed, causal = _allowed(domain.masks, answers), domain.causal
    for option in wanted(domain):
        if together(MASK, option) not in answers:
            allowed = ("none",)
        if together(CAUSAL, option) not in answers:
            causal = False
    if Capability.FUTURE not in answers:
        causal = True
    elif causal is None:
        causal = Capability.CAUSAL in answers and choices.pick((False, True))
    if causal and together(MASK, CAUSAL) not in answers:
        causal = "none" in allowed
        allowed = tuple(kind for kind in allowed if kind == "none" or not causal)
    kind = choices.pick(allowed)
    return choices.vary(kind, _alike(kind, allowed)), causal


@cache
def _allowed(masks: tuple[str, ...], answers: frozenset[str]) -> tuple[str, ...]:
    """The kinds of mask that an implementation takes, of some."""
    kinds_taken = [
        kind
        for kind in masks
        if kind == "none"
        or (kind in kinds.BOOLEAN and Capability.MASK in answers)
        or (kind in kinds.ADDITIVE and Capability.BIAS in answers)
    ]
    if Capability.FORMS not in answers:
        kinds_taken = [kind for kind in kinds_taken if kind not in kinds.OF_ROWS]
    plain = len(kinds_taken) // 2 if "none" in kinds_taken else 0  # which stays frequent
    return (*kinds_taken, *["none"] * plain)


@cache
def _alike(kind: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Those of some kinds that have the shape and the format of one."""
    return tuple(x for x in allowed if x in kinds.ALIKE[kind])


def others(domain: Problems) -> Mapping[Parameter, bool | None]:
    """Whether a domain uses options other than masks and causality; None: some problems do."""
    return {
        WINDOW: domain.windows,
        FIRST: domain.firsts,
        CAP: domain.caps,
        SINKS: domain.sinks,
        SLOPES: domain.slopes,
        QUERY_SEGMENTS: domain.segments,
        QUERY_POSITIONS: domain.positions,
    }


def wanted(domain: Problems) -> list[Parameter]:
    """The options that a domain requires; others may be unsupported together with them."""
    return [option for option, has in others(domain).items() if has]


def taken(
    option: Parameter, domain: Problems, answers: frozenset[str], said: Mapping[Parameter, bool]
) -> bool:
    """Whether an option is supported together with those drawn, and with those still required."""
    if ALONE[option] not in answers:
        return False
    later = [x for x in wanted(domain) if x not in (option, *said)]
    pairs = [(x, option) for x, is_said in said.items() if is_said]
    return all(together(*pair) in answers for pair in (*pairs, *((option, x) for x in later)))


def cap(
    choices: Choices, domain: Problems, scope: Scope, said: Mapping[Parameter, bool]
) -> float | None:
    """The soft-cap to use with the options in `said`; none of sums, for the reason in `sinks`."""
    shifts = domain.shifts or (domain.sinks and said[MASK])
    bends = shifts and as_chosen(scope.conventions)["caps_bias"]
    if domain.caps is False or bends or not taken(CAP, domain, scope.answers, said):
        return None
    if domain.caps is None and choices.pick((True, True, False)):
        return None
    return choices.pick(CAPS)


def dlse(choices: Choices, domain: Problems, size: Sizes) -> Array | None:
    """A cotangent of the log-sum-exp, of eighths; None where a domain has none.   (B, H, N)"""
    if not domain.cotangents:
        return None
    drawn = Stream(choices.seed()).normal(*size.scores[:3])
    return np.clip(np.round(16 * drawn) / 8, -16, 16)


def sinks(
    choices: Choices, domain: Problems, scope: Scope, said: Mapping[Parameter, bool], heads: int
) -> Array | None:
    """The sinks to use with the options in `said`: as large as scores, far from them, or none.

    A cap of sums bounds no sink (`moves.with_the_sink_as_a_key`), so no problem has both.
    """
    sums = said[CAP] and as_chosen(scope.conventions)["caps_bias"]
    bends = sums and (said[MASK] or domain.slopes)
    if domain.sinks is False or bends or not taken(SINKS, domain, scope.answers, said):
        return None
    if domain.sinks is None and choices.pick((True, True, False)):
        return None
    chance = Stream(choices.seed())
    near = np.round(8 * (1 + 2 * chance.normal(heads))) / 8  # each format has eighths
    return np.where(chance.random(heads) < 0.75, near, chance.choices(FAR, heads))


def slopes(
    choices: Choices, domain: Problems, scope: Scope, said: Mapping[Parameter, bool], size: Sizes
) -> Array | None:
    """The slopes to use with the options in `said`: as deployed, and sometimes an odd one."""
    bends = said[SINKS] and said[CAP] and as_chosen(scope.conventions)["caps_bias"]
    if domain.slopes is False or bends or not taken(SLOPES, domain, scope.answers, said):
        return None
    if domain.slopes is None and choices.pick((True, True, False)):
        return None
    each = Capability.SLOPES_EACH in scope.answers and choices.pick((False, False, True))
    chance = Stream(choices.seed())
    usual = np.exp2(-8 * np.arange(1, size.H + 1) / max(size.H, 1))
    shape = (size.B, size.H) if each else (size.H,)
    found = np.where(chance.random(*shape) < 0.75, usual, chance.choices(ODD_SLOPES, *shape))
    return rounded(found, "float32")


def segments(
    choices: Choices, domain: Problems, scope: Scope, said: Mapping[Parameter, bool], size: Sizes
) -> Mapping[str, Any]:
    """The segments of queries and keys to use with the options in `said`; or none of either."""
    if domain.segments is False or not taken(QUERY_SEGMENTS, domain, scope.answers, said):
        return {}
    rows = domain.in_rows or (domain.positions is False and not domain.segments)
    if rows and as_chosen(scope.conventions)["in_text"]:
        return {}
    if domain.segments is None and choices.pick((True, True, False)):
        return {}
    several, apart = (x in scope.answers for x in (Capability.LABELS, Capability.OTHERS))
    if not apart and size.N != size.M:
        return {}
    seed = choices.seed()
    mine, theirs = texts.drawn(seed, size.B, size.N, size.M, many=several, others=apart)
    return {"query_segments": mine, "key_segments": theirs}


def positions(
    choices: Choices, domain: Problems, scope: Scope, said: Mapping[Parameter, bool], size: Sizes
) -> Mapping[str, Any]:
    """The positions of queries and keys to use with those in `said`; of both, one or none."""
    if domain.positions is False or not taken(QUERY_POSITIONS, domain, scope.answers, said):
        return {}
    if domain.positions is None and choices.pick((True, True, False)):
        return {}
    alone = Capability.POSITIONED_ALONE in scope.answers
    side = choices.pick(("both", "both", "queries", "keys") if alone else ("both",))
    p, r = places.drawn(choices.seed(), size.B, size.N, size.M, near=side != "both")
    found = {} if side == "keys" else {"query_positions": p}
    return found if side == "queries" else {**found, "key_positions": r}


def scale(
    choices: Choices, domain: Problems, answers: frozenset[str], causal: bool
) -> float | None:
    """The scale to ask for; one that is not positive, and causal, is for the clause about it."""
    if Capability.SCALE not in answers or domain.scales == ("default",):
        return None
    if domain.scales == ("odd",):
        return choices.pick(ODD_SCALES)
    scales = SCALES if causal else (*SCALES, *ODD_SCALES)
    not_asked = (None,) * len(scales) if "default" in domain.scales else ()
    return choices.pick((*not_asked, *scales))


@cache
def asked(kind: str, causal: bool) -> frozenset[str]:
    """The features of a problem with this kind of mask, whatever its sizes are."""
    masked = kind != "none"
    asked = {
        Capability.MASK: kind in kinds.BOOLEAN,
        Capability.BIAS: kind in kinds.ADDITIVE,
        Capability.CAUSAL: causal,
        together(MASK, CAUSAL): masked and causal,
    }
    return holding(asked)
