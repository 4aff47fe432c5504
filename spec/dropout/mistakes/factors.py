"""Factors, modes and rates: what becomes of a weight that was kept."""

from dataclasses import replace

import numpy as np

from spec.attention.mistakes.exponentials import divided, forbid, softmax
from spec.dropout.mistakes.making import wrong
from spec.dropout.mistakes.steps import Pass, combine, draw, factor, rate, use
from spec.notation import Array

# Factors


@wrong("use", incident="I23", where="dropping")
def forgets_to_scale(seen: Pass) -> Array:
    """Drops weights, and does not make up for it."""
    return seen.a * seen.kept


@wrong("use", incident="I23", where="dropping and no rate of one half")
def scales_by_the_rate(seen: Pass) -> Array:
    """Divides by p, which is right at one half."""
    return seen.a * seen.kept / seen.a.dtype.type(seen.rate or 1)


@wrong("use", incident="I23", where="dropping")
def multiplies_by_the_rate(seen: Pass) -> Array:
    """Multiplies by p, where it should divide by 1 - p."""
    return seen.a * seen.kept * seen.a.dtype.type(seen.rate or 1)


@wrong("use", incident="I23", citation="aws-neuron/nki-samples#80", where="dropping")
def drops_before_normalising(seen: Pass) -> Array:
    """Sums the denominator over the exponentials that are left, so that factors cancel."""
    left = seen.a * seen.kept
    return left / left.sum(axis=-1, keepdims=True)


@wrong("use", incident="I23", where="dropping")
def normalises_again(seen: Pass) -> Array:
    """Makes the kept weights sum to one."""
    left = seen.a * seen.kept
    return divided(left, left.sum(axis=-1, keepdims=True))


@wrong("use", incident="I23", where="dropping")
def drops_the_scores(seen: Pass) -> Array:
    """Applies dropout to the scores, where a dropped one is 0 and not -inf."""
    s = seen.attention.s * seen.kept * seen.a.dtype.type(factor(seen.rate))
    return softmax(forbid(s, seen.attention.allowed))


# Modes


@wrong(
    "rate",
    incident="I22",
    citation="pytorch/pytorch#124464",
    where="not training and no rate of zero",
)
def drops_in_evaluation(seen: Pass) -> float:
    """Passes the rate on without asking for the mode."""
    return seen.p


@wrong("use", incident="I22", where="not training and no rate of zero")
def scales_in_evaluation(seen: Pass) -> Array:
    """Multiplies by 1 - p in evaluation, as well as dividing by it in training."""
    return use(seen) if seen.training else seen.a * seen.a.dtype.type(1 - seen.p)


@wrong("rate", incident="I23", citation="pytorch/pytorch#184126", where="dropping")
def never_drops(_: Pass) -> float:
    """Takes a rate, and passes it to nobody."""
    return 0.0


@wrong("rate", incident="I23", citation="NVIDIA/Megatron-LM#411")
def forgets_the_rate_in_evaluation(seen: Pass) -> float:
    """Sets the rate to zero for evaluation, and has no other place where it was."""
    seen.memory["p"] = rate(seen) if seen.memory.get("p") != 0 else 0.0
    return float(seen.memory["p"])


# Rates


@wrong("rate", incident="I23", where="training and a rate of zero")
def takes_a_rate_of_zero_for_none(seen: Pass) -> float:
    """Falls back on the usual rate where none is given, and zero is falsy."""
    return (seen.p or 0.1) if seen.training else 0.0


@wrong("use", incident="I23", where="training and a rate of one")
def divides_by_zero_at_rate_one(seen: Pass) -> Array:
    """Has no case for p = 1, where zero is multiplied by infinity."""
    return seen.a * seen.kept * (np.ones(1, seen.a.dtype) / (1 - seen.rate)).astype(seen.a.dtype)


@wrong("rate", incident="I23", where="training and a rate of one")
def keeps_all_at_rate_one(seen: Pass) -> float:
    """Drops only where 0 < p < 1, so as not to divide by zero."""
    return rate(seen) if seen.p < 1 else 0.0


@wrong("draw", incident="I23", where="dropping and no rate of one half")
def keeps_with_the_rate(seen: Pass) -> Array:
    """Takes p for the probability of being kept, as older interfaces had it."""
    return ~draw(seen) if seen.rate else draw(seen)


@wrong("draw", incident="I23", where="dropping and no rate of few bits")
def draws_four_bits(seen: Pass) -> Array:
    """Draws numbers of four bits, and rounds the rate down to one of them."""
    return seen.chance.integers(16, size=seen.a.shape) >= int(16 * seen.rate)


# What is dropped


@wrong("combine", incident="I23", where="dropping and M > 1")
def drops_the_output(seen: Pass) -> Array:
    """Drops entries of the output, which is where the residual's dropout is."""
    o = seen.a @ seen.v
    kept = np.resize(seen.kept, o.shape)
    return np.asarray(o * kept * o.dtype.type(factor(seen.rate)))


@wrong("combine", incident="I23", where="dropping")
def drops_entries_of_the_values(seen: Pass) -> Array:
    """Drops entries of the values, and weighs what is left."""
    kept = seen.chance.random(seen.v.shape) >= seen.rate
    return seen.a @ (seen.v * kept * seen.v.dtype.type(factor(seen.rate)))


@wrong("combine", incident="I23", where="dropping and E > 1")
def draws_again_for_the_values(seen: Pass) -> Array:
    """Works through the columns of the values in two tiles, and draws a mask for each."""
    half = (seen.v.shape[-1] + 1) // 2
    other = replace(seen, kept=draw(seen))
    return np.concatenate([combine(seen)[..., :half], (use(other) @ seen.v)[..., half:]], axis=-1)


@wrong("use", incident="I23", where="dropping")
def attends_to_the_forbidden_to_make_up(seen: Pass) -> Array:
    """Spreads a row evenly over all keys if chance has left nothing of it."""
    w = use(seen)
    return np.where(w.any(axis=-1, keepdims=True), w, w.dtype.type(1 / w.shape[-1]))


@wrong("finish", incident="plausible")
def answers_where_the_queries_were(o: Array, query: Array) -> Array:
    """Writes the output into the queries, which have its shape and are not needed any more."""
    if o.shape != query.shape:
        return o.astype(query.dtype)
    query[...] = o
    return query
