"""Known bugs of the ALiBi term -m |p_i - r_j|: wrong positions, signs, or units."""

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
    """The step with another distance, computed from row numbers, where no positions are given."""

    def step(s: Array, sigma: float, given: Any) -> Array:
        m = given.alibi_slopes
        if m is None or given.query_positions is not None:
            return slant(s, sigma, given)
        return slanted(s, per_head(m), distance(sizes_of(given)))

    return step


def taken(distance: Callable[[Array], Array]) -> Callable[[Array, float, Any], Array]:
    """The step with `distance`, a function of how far key j lies ahead of query i."""

    def step(s: Array, _: float, given: Any) -> Array:
        m = given.alibi_slopes
        return s if m is None else slanted(s, per_head(m), distance(placing.ahead(given)))

    return step


def times(factor: Callable[[float], float]) -> Callable[[Array, float, Any], Array]:
    """The step with slopes multiplied by `factor`, a function of the scale."""

    def step(s: Array, sigma: float, given: Any) -> Array:
        m = given.alibi_slopes
        return s if m is None else slanted(s, factor(sigma) * per_head(m), placing.apart(given))

    return step


@wrong("slant", incident="BUG-42", citation="meta-pytorch/attention-gym#86", where="ALiBi slopes")
def rewards_distance(s: Array, sigma: float, given: Any) -> Array:
    """Adds m |i - j| to the scores instead of subtracting it, so distant keys gain weight."""
    return times(lambda _: -1.0)(s, sigma, given)


@wrong(
    "slant",
    incident="BUG-42",
    where="ALiBi slopes and not causal",
    convention=("slopes-ahead", "signed"),
)
def rewards_keys_that_lie_ahead(s: Array, sigma: float, given: Any) -> Array:
    """Adds m (j - i) instead of -m |j - i|, so keys ahead of the query gain weight."""
    return taken(lambda ahead: -ahead)(s, sigma, given)


@wrong("slant", incident="plausible", where="ALiBi slopes and not causal")
def has_slopes_for_the_past_alone(s: Array, sigma: float, given: Any) -> Array:
    """Treats the distance of a key ahead of the query as zero, so only past keys lose weight."""
    return taken(lambda ahead: np.maximum(-ahead, 0))(s, sigma, given)


@wrong(
    "slant",
    incident="BUG-42",
    where="ALiBi slopes and N != M and not positions",
    convention=("slopes-alignment", "bottom-right"),
)
def counts_places_from_the_end(s: Array, sigma: float, given: Any) -> Array:
    """Measures distances as if the last query stood at the last key (bottom-right alignment)."""
    return placed(lambda n: np.abs(ahead(n) - (n.M - n.N)))(s, sigma, given)


@wrong("slant", incident="BUG-42", where="ALiBi slopes and not positions")
def forgets_the_place_of_the_query(s: Array, sigma: float, given: Any) -> Array:
    """Adds m j instead of -m |i - j|; only in causal calls is the difference constant per query."""
    return placed(lambda n: -np.arange(n.M) + 0 * np.arange(n.N)[:, None])(s, sigma, given)


@wrong(
    "slant",
    incident="plausible",
    convention=("slopes-from", "keys"),
    where="ALiBi slopes and not positions and several scores",
)
def adds_the_position_of_the_key_first(s: Array, sigma: float, given: Any) -> Array:
    """Adds m j and subtracts m i, which rounds the scores of late queries as if they were large."""
    m = given.alibi_slopes
    if m is None or given.query_positions is not None:
        return slant(s, sigma, given)
    n, m = sizes_of(given), per_head(m)
    mine = np.arange(n.N)[:, None]
    return slanted(s, m, np.abs(ahead(n)) - mine) - (m * mine).astype(s.dtype)


@wrong("slant", incident="BUG-42", where="ALiBi slopes and not positions")
def measures_from_the_last_key(s: Array, sigma: float, given: Any) -> Array:
    """Measures the distance of every key from the last key, whatever the query's position."""
    return placed(lambda n: n.M - 1 - np.arange(n.M) + 0 * np.arange(n.N)[:, None])(s, sigma, given)


@wrong("slant", incident="plausible", where="ALiBi slopes")
def squares_the_distance(s: Array, sigma: float, given: Any) -> Array:
    """Multiplies slopes by the square of the distance instead of the distance."""
    return taken(lambda ahead: ahead**2)(s, sigma, given)


@wrong("slant", incident="plausible", where="ALiBi slopes and several scores")
def takes_the_next_key_for_none_away(s: Array, sigma: float, given: Any) -> Array:
    """Uses distances that are one too small: it counts the tokens between query and key."""
    return taken(lambda ahead: np.maximum(np.abs(ahead) - 1, 0))(s, sigma, given)


@wrong("slant", incident="BUG-42", where="ALiBi slopes and M > 16 and not positions")
def counts_keys_anew_in_each_tile(s: Array, sigma: float, given: Any) -> Array:
    """Uses the index of a key in its tile of 16 as its position, without the tile's offset."""
    return placed(lambda n: np.abs(np.arange(n.M) % TILE - np.arange(n.N)[:, None]))(
        s, sigma, given
    )


@wrong("slant", incident="BUG-42", where="ALiBi slopes and N > 16")
def counts_queries_anew_in_each_tile(s: Array, sigma: float, given: Any) -> Array:
    """Uses the index of a query in its tile of 16 as its position, without the tile's offset."""
    return placed(lambda n: np.abs(np.arange(n.M) - np.arange(n.N)[:, None] % TILE))(
        s, sigma, given
    )


@wrong("slant", incident="plausible", where="ALiBi slopes")
def scales_slopes_too(s: Array, sigma: float, given: Any) -> Array:
    """Multiplies the ALiBi term by the scale: it adds the term before scaling, not after it."""
    return times(lambda scale: scale)(s, sigma, given)


@wrong("slant", incident="plausible", where="ALiBi slopes")
def takes_slopes_in_bits(s: Array, sigma: float, given: Any) -> Array:
    """Adds the ALiBi term to scores in base-two units without log2(e), which scales it by ln 2."""
    return times(lambda _: float(np.log(2)))(s, sigma, given)


@wrong("cap", incident="BUG-12", where="ALiBi slopes and a soft-cap")
def caps_the_slopes_too(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Applies the soft-cap after the ALiBi term is added, instead of before it."""
    if given.softcap is None:
        return t, allowed
    added = slant(np.zeros(t.shape), 1.0, given)
    capped, seen = cap(t + added, allowed, bias, given)
    return capped - added, seen
