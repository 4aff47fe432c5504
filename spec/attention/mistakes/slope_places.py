"""What slopes are multiplied by and what becomes of the product: places, signs, units."""

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.attention.mistakes import placing
from spec.attention.mistakes.exponentials import per_head
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.slopes import sizes_of, slanted
from spec.attention.mistakes.steps import Capped, cap, slant
from spec.notation import Array
from spec.sizes import Sizes

TILE = 16


def ahead(sizes: Sizes) -> Array:
    """j - i.   (N, M)"""
    return np.arange(sizes.M) - np.arange(sizes.N)[:, None]


def placed(distance: Callable[[Sizes], Array]) -> Callable[[Array, float, Any], Array]:
    """The step with another distance where rows are the places."""

    def step(s: Array, sigma: float, given: Any) -> Array:
        m = given.alibi_slopes
        if m is None or given.query_positions is not None:
            return slant(s, sigma, given)
        return slanted(s, per_head(m), distance(sizes_of(given)))

    return step


def taken(distance: Callable[[Array], Array]) -> Callable[[Array, float, Any], Array]:
    """The step with something else of how far a key lies ahead, wherever that is."""

    def step(s: Array, _: float, given: Any) -> Array:
        m = given.alibi_slopes
        return s if m is None else slanted(s, per_head(m), distance(placing.ahead(given)))

    return step


def times(factor: Callable[[float], float]) -> Callable[[Array, float, Any], Array]:
    """The step with slopes that are multiplied by something, which may follow the scale."""

    def step(s: Array, sigma: float, given: Any) -> Array:
        m = given.alibi_slopes
        return s if m is None else slanted(s, factor(sigma) * per_head(m), placing.apart(given))

    return step


@wrong("slant", incident="I42", citation="meta-pytorch/attention-gym#86", where="slopes")
def rewards_distance(s: Array, sigma: float, given: Any) -> Array:
    """Adds slopes that are meant to be taken away."""
    return times(lambda _: -1.0)(s, sigma, given)


@wrong(
    "slant", incident="I42", where="slopes and not causal", convention=("slopes ahead", "signed")
)
def rewards_keys_that_lie_ahead(s: Array, sigma: float, given: Any) -> Array:
    """Adds m (j - i), which is right as long as nothing lies ahead."""
    return taken(lambda ahead: -ahead)(s, sigma, given)


@wrong("slant", incident="plausible", where="slopes and not causal")
def has_slopes_for_the_past_alone(s: Array, sigma: float, given: Any) -> Array:
    """Takes nothing from a key ahead, as if it were the next one."""
    return taken(lambda ahead: np.maximum(-ahead, 0))(s, sigma, given)


@wrong(
    "slant",
    incident="I42",
    where="slopes and N != M and not positions",
    convention=("slopes corner", "bottom-right"),
)
def counts_places_from_the_end(s: Array, sigma: float, given: Any) -> Array:
    """Has the last query at the place of the last key."""
    return placed(lambda n: np.abs(ahead(n) - (n.M - n.N)))(s, sigma, given)


@wrong("slant", incident="I42", where="slopes and not positions")
def forgets_the_place_of_the_query(s: Array, sigma: float, given: Any) -> Array:
    """Adds m j alone: under causality what is left out is the same for a whole row."""
    return placed(lambda n: -np.arange(n.M) + 0 * np.arange(n.N)[:, None])(s, sigma, given)


@wrong("slant", incident="I42", where="slopes and not positions")
def measures_from_the_last_key(s: Array, sigma: float, given: Any) -> Array:
    """Takes every query for the last one, as when it decodes."""
    return placed(lambda n: n.M - 1 - np.arange(n.M) + 0 * np.arange(n.N)[:, None])(s, sigma, given)


@wrong("slant", incident="plausible", where="slopes")
def squares_the_distance(s: Array, sigma: float, given: Any) -> Array:
    """Takes the square, which has no sign either."""
    return taken(lambda ahead: ahead**2)(s, sigma, given)


@wrong("slant", incident="plausible", where="slopes and several scores")
def takes_the_next_key_for_none_away(s: Array, sigma: float, given: Any) -> Array:
    """Counts the places between two tokens, which are one less."""
    return taken(lambda ahead: np.maximum(np.abs(ahead) - 1, 0))(s, sigma, given)


@wrong("slant", incident="I42", where="slopes and M > 16 and not positions")
def counts_keys_anew_in_each_tile(s: Array, sigma: float, given: Any) -> Array:
    """Adds no offset to the number of a key in its tile of 16."""
    return placed(lambda n: np.abs(np.arange(n.M) % TILE - np.arange(n.N)[:, None]))(
        s, sigma, given
    )


@wrong("slant", incident="I42", where="slopes and N > 16")
def counts_queries_anew_in_each_tile(s: Array, sigma: float, given: Any) -> Array:
    """Adds no offset to the number of a query in its tile of 16."""
    return placed(lambda n: np.abs(np.arange(n.M) - np.arange(n.N)[:, None] % TILE))(
        s, sigma, given
    )


@wrong("slant", incident="plausible", where="slopes")
def scales_slopes_too(s: Array, sigma: float, given: Any) -> Array:
    """Adds slopes to products that are still to be scaled."""
    return times(lambda scale: scale)(s, sigma, given)


@wrong("slant", incident="plausible", where="slopes")
def takes_slopes_in_bits(s: Array, sigma: float, given: Any) -> Array:
    """Has scores in units of log 2, and slopes in natural ones."""
    return times(lambda _: float(np.log(2)))(s, sigma, given)


@wrong("cap", incident="I12", where="slopes and a cap")
def caps_the_slopes_too(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Puts the cap on what is left of a score: what is far away is pressed together."""
    if given.softcap is None:
        return t, allowed
    added = slant(np.zeros(t.shape), 1.0, given)
    capped, seen = cap(t + added, allowed, bias, given)
    return capped - added, seen
