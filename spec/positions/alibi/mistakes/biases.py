"""Known bugs of linear biases (ALiBi), and variants that only look wrong."""

import numpy as np

from spec.formats import rounded
from spec.mistake import Steps
from spec.notation import Array
from spec.positions.alibi.definition import largest_power_of_two
from spec.positions.alibi.mistakes import steps
from spec.positions.alibi.mistakes.making import wrong

POSITIONAL = "BUG-35"


@wrong(
    "slopes",
    incident=POSITIONAL,
    citation="ml-explore/mlx#343",
    where="heads beyond a power of two and no list of slopes and M > 1",
)
def takes_one_formula_for_all_heads(heads: int) -> Array:
    """Uses the slopes 2^(-8 h / H) even if the number of heads H is not a power of two."""
    return steps.powers(heads)


@wrong(
    "slopes",
    incident=POSITIONAL,
    citation="paiml/aprender#2143",
    where="no list of slopes and M > 1",
)
def counts_heads_from_zero(heads: int) -> Array:
    """Counts heads from 0 in the exponent of the slopes, so the first slope is 1."""
    n = largest_power_of_two(heads)
    return steps.slopes(heads) * np.where(np.arange(heads) < n, 2 ** (8 / n), 2 ** (4 / n))


@wrong(
    "slopes",
    incident=POSITIONAL,
    where="heads beyond a power of two and no list of slopes and M > 1",
)
def rounds_heads_up(heads: int) -> Array:
    """Uses the first H slopes of the next power of two if H is not a power of two."""
    return steps.powers(2 ** (heads - 1).bit_length())[:heads]


@wrong(
    "slopes",
    incident=POSITIONAL,
    where="heads beyond a power of two and no list of slopes and M > 1",
)
def takes_the_second_of_every_two(heads: int) -> Array:
    """Extends the slopes by entries 2, 4, ... of the list for twice as many heads, not 1, 3, ..."""
    n = largest_power_of_two(heads)
    return np.concatenate([steps.powers(n), steps.powers(2 * n)[1::2][: heads - n]])


@wrong(
    "slopes",
    incident=POSITIONAL,
    where="heads beyond a power of two and no list of slopes and M > 1",
)
def sorts_the_slopes(heads: int) -> Array:
    """Sorts the slopes in descending order, so heads get the slopes of other heads."""
    return np.sort(steps.slopes(heads))[::-1]


@wrong("slopes", incident=POSITIONAL, where="H > 1 and no list of slopes and M > 1")
def grows_with_the_heads(heads: int) -> Array:
    """Reverses the slopes, so the last head gets the slope of the first."""
    return steps.slopes(heads)[::-1]


@wrong("charge", incident=POSITIONAL, where="M > 1")
def rewards_distance(m: Array, d: Array) -> Array:
    """Adds slope times distance instead of subtracting it, so distant keys score higher."""
    return m[:, None, None] * d


@wrong("charge", incident=POSITIONAL, where="M > 2")
def forgets_the_distance(m: Array, d: Array) -> Array:
    """Limits the distance to 1, so all keys at other positions get the same bias."""
    return -m[:, None, None] * np.minimum(d, 1)


@wrong("charge", incident=POSITIONAL, where="M > 2")
def squares_the_distance(m: Array, d: Array) -> Array:
    """Uses the squared distance instead of the distance."""
    return -m[:, None, None] * d**2


@wrong("distance", incident=POSITIONAL, where="M > 1")
def scales_distance_by_length(queries: int, keys: int) -> Array:
    """Divides the distances by the number of keys."""
    return steps.distance(queries, keys) / keys


@wrong("distance", incident=POSITIONAL, where="M > 1")
def measures_distance_as_a_share(queries: int, keys: int) -> Array:
    """Divides the distances by the number of keys at or before the query."""
    seen = keys - queries + 1 + np.arange(queries)
    return steps.distance(queries, keys) / seen[:, None]


@wrong("charge", incident=POSITIONAL, where="M > 256")
def counts_distance_in_bfloat16(m: Array, d: Array) -> Array:
    """Rounds the distances to bfloat16, in which not every integer above 256 exists."""
    return steps.charge(m, rounded(d.astype(float), "bfloat16"))


@wrong(
    "distance", incident="BUG-03", citation="TransformerLensOrg/TransformerLens#777", where="N < M"
)
def takes_rows_from_the_start(queries: int, keys: int) -> Array:
    """Aligns the queries with the first N of M keys (top-left) instead of the last N."""
    return steps.distance(keys, keys)[:queries]


@wrong("distance", incident="BUG-03", where="N < M")
def is_a_row_early_behind_a_cache(queries: int, keys: int) -> Array:
    """Places all queries one position too early if there are more keys than queries."""
    before = max(keys - queries - 1, 0)
    return steps.distance(keys, keys)[before : before + queries]


@wrong("given", incident=POSITIONAL, where="a list of slopes and M > 1")
def ignores_the_slopes(m: Array, published: Array) -> Array:  # noqa: ARG001
    """Ignores the slopes that the caller passes, and uses the published ones."""
    return published


@wrong("given", incident=POSITIONAL, where="a list of slopes and M > 1")
def takes_slopes_for_exponents(m: Array, published: Array) -> Array:  # noqa: ARG001
    """Uses 2^-m as the slope instead of m, if the caller passes slopes m."""
    return 2.0**-m


@wrong("finish", incident="BUG-40", where="no list of slopes and M > 1")
def lifts_biases_above_zero(b: Array) -> Array:
    """Adds 2^20 to all biases: the softmax cancels it, but rounding costs every bias digits."""
    return b + 2.0**20


def _ahead(b: Array) -> Array:
    """True where a key lies ahead of a query.   (N, M)"""
    queries, keys = b.shape[1:]
    return np.arange(keys) > (keys - queries + np.arange(queries))[:, None]


@wrong("finish", incident=POSITIONAL, where="N > 1")
def leaves_the_future_infinite(b: Array) -> Array:
    """Sets the bias of every key ahead of its query to +inf, where -inf would mask the key."""
    return np.where(_ahead(b), np.inf, b)


@wrong("finish", incident=POSITIONAL, where="N > 1")
def leaves_the_future_undefined(b: Array) -> Array:
    """Sets the bias of every key ahead of its query to NaN, the product of 0 and -inf."""
    return np.where(_ahead(b), np.nan, b)


@wrong("distance", incident=POSITIONAL, how={"conventions": {"sides": "both"}}, where="N > 1")
def claims_both_sides_of_one(queries: int, keys: int) -> Array:
    """Gives keys ahead of a query a bias of 0, although it declares `sides` as "both"."""
    here = keys - queries + np.arange(queries)
    return np.maximum(here[:, None] - np.arange(keys), 0)


_matrices: dict[object, Array] = {}


@wrong("make", incident="BUG-29", citation="ml-explore/mlx#3071")
def keeps_a_matrix_of_another_size(
    heads: int, queries: int, keys: int, m: Array | None, at: Steps
) -> Array:
    """Caches the largest bias matrix, and returns its first N rows and first M columns."""
    kept = _matrices.get(heads, np.zeros((heads, 0, 0)))
    if m is not None or kept.shape[1] < queries or kept.shape[2] < keys:
        kept = steps.make(heads, queries, keys, m, at)
        _matrices[heads] = kept
    return kept[:, :queries, :keys]


@wrong("slopes", incident="BUG-29", citation="ml-explore/mlx#3071")
def keeps_slopes_of_another_head_count(heads: int) -> Array:
    """Caches the slopes of the largest head count so far, and returns the first H of them."""
    if len(_matrices.get("slopes", ())) < heads:
        _matrices["slopes"] = steps.slopes(heads)
    return _matrices["slopes"][:heads]


@wrong("leave", incident="BUG-29", force="should")
def hands_out_the_matrix_that_it_keeps(b: Array, dtype: np.dtype[np.floating]) -> Array:
    """Returns the same cached array from equal calls, so a caller can change the next result."""
    key = (b.shape, np.dtype(dtype), b.tobytes())
    return _matrices.setdefault(key, b.astype(dtype))


@wrong("distance", incident="BUG-40", citation="vllm-project/vllm#945", harmless=True)
def counts_distance_from_one(queries: int, keys: int) -> Array:
    """Uses the signed distance plus 1: the constant cancels in the softmax of each row."""
    here = keys - queries + np.arange(queries)
    return here[:, None] - np.arange(keys) + 1


@wrong("charge", incident="BUG-40", harmless=True)
def counts_from_the_first_key(m: Array, d: Array) -> Array:
    """Uses slope times key position as bias, which differs by a constant for each query."""
    return m[:, None, None] * np.broadcast_to(np.arange(d.shape[1]), d.shape)


@wrong("slopes", incident="BUG-40", harmless=True)
def multiplies_slope_by_slope(heads: int) -> Array:
    """Computes the slopes by repeated multiplication, as the published program does."""
    n = largest_power_of_two(heads)
    start, half = 2.0 ** (-8 / n), 2.0 ** (-4 / n)
    others = half ** (2.0 * np.arange(heads - n) + 1)
    return np.concatenate([np.cumprod(np.full(n, start)), others])


@wrong("finish", incident="BUG-40", harmless=True)
def forbids_the_future_at_once(b: Array) -> Array:
    """Sets the bias of keys ahead of a query to -inf, and so includes the causal mask."""
    return np.where(_ahead(b), -np.inf, b)
