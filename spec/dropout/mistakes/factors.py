"""Known bugs of dropout factors, modes and rates, and dropout of the wrong array."""

from dataclasses import replace

import numpy as np

from spec.attention.mistakes.exponentials import divided, forbid, softmax
from spec.dropout.mistakes.making import wrong
from spec.dropout.mistakes.steps import Pass, combine, draw, factor, rate, use
from spec.notation import Array

# Factors


@wrong("use", incident="BUG-23", where="dropping")
def forgets_to_scale(seen: Pass) -> Array:
    """Drops weights, but does not divide the kept ones by 1 - p."""
    return seen.a * seen.kept


@wrong("use", incident="BUG-23", where="dropping and no rate of one half")
def scales_by_the_rate(seen: Pass) -> Array:
    """Divides the kept weights by p instead of 1 - p, which is right only for p = 1/2."""
    return seen.a * seen.kept / seen.a.dtype.type(seen.rate or 1)


@wrong("use", incident="BUG-23", where="dropping")
def multiplies_by_the_rate(seen: Pass) -> Array:
    """Multiplies the kept weights by p instead of dividing them by 1 - p."""
    return seen.a * seen.kept * seen.a.dtype.type(seen.rate or 1)


@wrong("use", incident="BUG-23", citation="aws-neuron/nki-samples#80", where="dropping")
def drops_before_normalising(seen: Pass) -> Array:
    """Drops before normalising, so kept weights sum to 1; a row with none gives NaN (0 / 0)."""
    left = seen.a * seen.kept
    return left / left.sum(axis=-1, keepdims=True)


@wrong("use", incident="BUG-23", where="dropping")
def normalises_again(seen: Pass) -> Array:
    """Divides the kept weights of each row by their sum instead of by 1 - p."""
    left = seen.a * seen.kept
    return divided(left, left.sum(axis=-1, keepdims=True))


@wrong("use", incident="BUG-23", where="dropping")
def drops_the_scores(seen: Pass) -> Array:
    """Applies dropout to the scores before the softmax, where a dropped score becomes 0."""
    s = seen.attention.s * seen.kept * seen.a.dtype.type(factor(seen.rate))
    return softmax(forbid(s, seen.attention.allowed))


# Modes


@wrong(
    "rate",
    incident="BUG-22",
    citation="pytorch/pytorch#124464",
    where="not training and no rate of zero",
)
def drops_in_evaluation(seen: Pass) -> float:
    """Applies dropout in evaluation mode, too."""
    return seen.p


@wrong("use", incident="BUG-22", where="not training and no rate of zero")
def scales_in_evaluation(seen: Pass) -> Array:
    """Multiplies the weights by 1 - p in evaluation mode, although training divides by it."""
    return use(seen) if seen.training else seen.a * seen.a.dtype.type(1 - seen.p)


@wrong("rate", incident="BUG-23", citation="pytorch/pytorch#184126", where="dropping")
def never_drops(_: Pass) -> float:
    """Ignores the dropout rate, and never drops a weight."""
    return 0.0


@wrong("rate", incident="BUG-23", citation="NVIDIA/Megatron-LM#411")
def forgets_the_rate_in_evaluation(seen: Pass) -> float:
    """Sets the rate to zero in evaluation mode, and does not restore it for training."""
    seen.memory["p"] = rate(seen) if seen.memory.get("p") != 0 else 0.0
    return float(seen.memory["p"])


# Rates


@wrong("rate", incident="BUG-23", where="training and a rate of zero")
def takes_a_rate_of_zero_for_none(seen: Pass) -> float:
    """Replaces a rate of zero by a default of 0.1 in training (`p or 0.1`)."""
    return (seen.p or 0.1) if seen.training else 0.0


@wrong("use", incident="BUG-23", where="training and a rate of one")
def divides_by_zero_at_rate_one(seen: Pass) -> Array:
    """Divides by 1 - p = 0 at a rate of one, so the weights are NaN (0 times infinity)."""
    return seen.a * seen.kept * (np.ones(1, seen.a.dtype) / (1 - seen.rate)).astype(seen.a.dtype)


@wrong("rate", incident="BUG-23", where="training and a rate of one")
def keeps_all_at_rate_one(seen: Pass) -> float:
    """Drops nothing at a rate of one, to avoid a division by zero."""
    return rate(seen) if seen.p < 1 else 0.0


@wrong("draw", incident="BUG-23", where="dropping and no rate of one half")
def keeps_with_the_rate(seen: Pass) -> Array:
    """Uses p as the probability of keeping a weight, not of dropping it."""
    return ~draw(seen) if seen.rate else draw(seen)


@wrong("draw", incident="BUG-23", where="dropping and no rate of few bits")
def draws_four_bits(seen: Pass) -> Array:
    """Draws random numbers of four bits, so the rate is rounded down to a multiple of 1/16."""
    return seen.chance.integers(16, size=seen.a.shape) >= int(16 * seen.rate)


# What is dropped


@wrong("combine", incident="BUG-23", where="dropping and M > 1")
def drops_the_output(seen: Pass) -> Array:
    """Applies dropout to the output instead of the weights."""
    o = seen.a @ seen.v
    kept = np.resize(seen.kept, o.shape)
    return np.asarray(o * kept * o.dtype.type(factor(seen.rate)))


@wrong("combine", incident="BUG-23", where="dropping")
def drops_entries_of_the_values(seen: Pass) -> Array:
    """Applies dropout to the entries of the values instead of the weights."""
    kept = seen.chance.random(seen.v.shape) >= seen.rate
    return seen.a @ (seen.v * kept * seen.v.dtype.type(factor(seen.rate)))


@wrong("combine", incident="BUG-23", where="dropping and E > 1")
def draws_again_for_the_values(seen: Pass) -> Array:
    """Draws another mask for the second half of the columns of the values."""
    half = (seen.v.shape[-1] + 1) // 2
    other = replace(seen, kept=draw(seen))
    return np.concatenate([combine(seen)[..., :half], (use(other) @ seen.v)[..., half:]], axis=-1)


@wrong("use", incident="BUG-23", where="dropping")
def attends_to_the_forbidden_to_make_up(seen: Pass) -> Array:
    """Gives all keys, even masked ones, the same weight if all weights of a row are zero."""
    w = use(seen)
    return np.where(w.any(axis=-1, keepdims=True), w, w.dtype.type(1 / w.shape[-1]))


@wrong("finish", incident="plausible")
def answers_where_the_queries_were(o: Array, query: Array) -> Array:
    """Writes the output into the caller's query array if the shapes agree."""
    if o.shape != query.shape:
        return o.astype(query.dtype)
    query[...] = o
    return query
