"""The window of a problem in a domain, as far as an implementation supports windows.

A window usually ends within the keys. If it has a left bound, leading keys of the sequence may stay
visible to every query: a few of them, or as many as there are and more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from spec.attention import asking
from spec.attention.contents import UNBOUNDED, Window
from spec.attention.options import CAUSAL, FIRST, MASK, WINDOW, Capability, together
from spec.attention.parameter import Parameter
from spec.choices import Choices
from spec.domain import Scope
from spec.sizes import EDGES, Sizes

if TYPE_CHECKING:
    from spec.attention.domain import Problems

BOUNDS = (0, 1, 2, 3, 4, 5, *EDGES)  # a few keys, and about as many as tiles hold
KEPT = (1, 2, 4, 5, 16, 17, 33)  # deployed models keep four


def drawn(
    choices: Choices, domain: Problems, answers: frozenset[str], beside: frozenset[str], size: Sizes
) -> Window:
    """The window to use, which usually ends within the keys."""
    if Capability.WINDOW not in answers:
        return UNBOUNDED
    with_mask = together(MASK, WINDOW) in answers or not beside & {Capability.MASK, Capability.BIAS}
    with_causal = together(CAUSAL, WINDOW) in answers or Capability.CAUSAL not in beside
    others = (x for x in asking.wanted(domain) if x not in (WINDOW, FIRST))
    free = all(together(WINDOW, x) in answers for x in others)
    asked = domain.windows or (domain.windows is None and domain.causal is not False)
    if not (asked and with_mask and with_causal and free):
        return UNBOUNDED
    if not domain.windows and choices.pick((True, True, False)):
        return UNBOUNDED
    within = tuple(x for x in BOUNDS if x < size.M)
    left, right = (choices.pick((*within, max(size.M - 1, 0), size.M, None)) for _ in range(2))
    if domain.firsts and left is None:
        left = choices.pick((*within, max(size.M - 1, 0)))
    if domain.windows and left is None is right:
        right = 0
    return left, right


def first(
    choices: Choices,
    domain: Problems,
    scope: Scope,
    window: Window,
    size: Sizes,
    said: Mapping[Parameter, bool],
) -> int:
    """The number of leading keys that stay visible; 0 if the window has no left bound."""
    taken = asking.taken(FIRST, domain, scope.answers, {**said, WINDOW: False})  # FIRST implies one
    if not taken or domain.firsts is False or window[0] is None:
        return 0
    if domain.firsts is None and choices.pick((True, True, False)):
        return 0
    return choices.pick((*(x for x in KEPT if x < size.M), size.M, size.M + 1))
