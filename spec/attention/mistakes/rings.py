"""Known bugs of ring attention, in which the tokens are spread over several ranks.

Keys pass from rank to rank, and each rank merges its result with that for the next keys. Most of
these bugs have no effect with one rank, as in most tests. Some show only with causality, or if the
number of ranks does not divide the lengths.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec import mistake
from spec.attention.mistakes.exponentials import divided
from spec.notation import Array

RANKS = 2
State = tuple[Array, Array]  # an output and its log-sum-exp


def spread(length: int) -> list[Array]:
    """The tokens of each rank: parts r and -1 - r of 2 * RANKS parts, for rank r."""
    parts = np.array_split(np.arange(length), 2 * RANKS)
    return [np.concatenate([parts[r], parts[-1 - r]]) for r in range(RANKS)]


def merge(state: State, part: State, counts: tuple[int, int]) -> State:  # noqa: ARG001
    """The result for all keys so far; counts: the number of old keys, and of new keys."""
    (o, lse), (new, own) = state, part
    top = reference(np.maximum(lse, own))
    mine, theirs = np.exp(lse - top), np.exp(own - top)
    total = mine + theirs
    mixed = o * mine[..., None] + new * theirs[..., None]
    return divided(mixed, total[..., None]), top + np.log(total)


def reference(largest: Array) -> Array:
    """The number to subtract before exponentials are taken: the largest score, or 0 for -inf."""
    return np.where(np.isneginf(largest), 0, largest)


@dataclass(frozen=True)
class Steps:
    """The steps that a known bug can replace.

    spread: the tokens of each rank. places: the positions of these tokens. turns: the number of
    ranks whose keys a rank reads. sunk: whether the sink counts at a turn. visited: whether `rank`
    reads the keys of `other`. merge: as above. taught: whether the keys of `other` receive
    gradients from the queries of `rank`. held: the rank whose keys the backward pass uses.
    """

    spread: Callable[[int], list[Array]] = spread
    places: Callable[[Array], Array] = lambda tokens: tokens
    turns: Callable[[int], int] = lambda ranks: ranks
    sunk: Callable[[int], bool] = lambda turn: turn == 0
    visited: Callable[[int, int, bool], bool] = lambda rank, other, causal: True  # noqa: ARG005
    merge: Callable[[State, State, tuple[int, int]], State] = merge
    taught: Callable[[int, int], bool] = lambda rank, other: True  # noqa: ARG005
    held: Callable[[int, int], int] = lambda rank, other: other  # noqa: ARG005


@dataclass(frozen=True)
class Ring:
    """The arguments in the accumulator dtype; k and v are repeated for every query head."""

    q: Array
    k: Array
    v: Array
    sigma: float
    causal: bool
    sinks: Array | None
    steps: Steps

    def scores(self, rows: Array, cols: Array) -> Array:
        """The scores of queries and keys, -inf for future keys if causal.   (B, H, rows, cols)"""
        s = self.sigma * (self.q[:, :, rows] @ self.k[:, :, cols].swapaxes(-1, -2))
        p, r = self.steps.places(rows), self.steps.places(cols)
        return np.where(r <= p[:, None], s, -np.inf) if self.causal else s

    def visits(self, rank: int) -> list[int]:
        """The ranks whose keys a rank reads, in order."""
        others = [(rank - turn) % RANKS for turn in range(self.steps.turns(RANKS))]
        return [x for x in others if self.steps.visited(rank, x, self.causal)]

    def known(self, rank: int) -> State:
        """The output and the log-sum-exp of the queries of a rank."""
        rows, keys = self.steps.spread(self.q.shape[2])[rank], self.steps.spread(self.k.shape[2])
        shape = (*self.q.shape[:2], len(rows))
        nothing = np.full(shape, -np.inf, self.q.dtype)
        state, seen = (np.zeros((*shape, self.v.shape[3]), self.q.dtype), nothing), 0
        for turn, other in enumerate(self.visits(rank)):
            cols = keys[other]
            s = self.scores(rows, cols)
            beside = nothing
            if self.sinks is not None and self.steps.sunk(turn):
                beside = np.broadcast_to(self.sinks.astype(s.dtype)[:, None], shape)
            top = reference(np.maximum(s.max(axis=-1, initial=-np.inf), beside))
            e = np.exp(s - top[..., None])
            total = e.sum(axis=-1) + np.exp(beside - top)
            o = divided(e @ self.v[:, :, cols], total[..., None])
            state = self.steps.merge(state, (o, top + np.log(total)), (seen, len(cols)))
            seen += len(cols)
        return state

    def output(self) -> Array:
        """The output of all queries, zeros where no rank computes it.   (B, H, N, E)"""
        o = np.zeros((*self.q.shape[:3], self.v.shape[3]), self.q.dtype)
        for rank, rows in enumerate(self.steps.spread(self.q.shape[2])):
            o[:, :, rows] = self.known(rank)[0]
        return o

    def gradients(self, dout: Array) -> tuple[Array, Array, Array]:
        """Gradients of queries, keys and values; those of keys and values for every query head."""
        dq, dk, dv = (np.zeros_like(x) for x in (self.q, self.k, self.v))
        keys, spread = self.steps.spread(self.k.shape[2]), self.steps.spread(self.q.shape[2])
        for rank, rows in enumerate(spread):
            o, lse = self.known(rank)
            do = dout[:, :, rows]
            for other in self.visits(rank):
                cols = keys[self.steps.held(rank, other)]
                a = np.exp(self.scores(rows, cols) - reference(lse)[..., None])
                da = do @ self.v[:, :, cols].swapaxes(-1, -2)
                ds = self.sigma * a * (da - (do * o).sum(axis=-1, keepdims=True))
                dq[:, :, rows] += ds @ self.k[:, :, cols]
                if self.steps.taught(rank, other):
                    dk[:, :, cols] += ds.swapaxes(-1, -2) @ self.q[:, :, rows]
                    dv[:, :, cols] += a.swapaxes(-1, -2) @ do
        return dq, dk, dv


def program(steps: Steps) -> Any:
    """Attention over ranks with these steps and their gradients, in torch's API dialect."""

    def opened(
        query: Array,
        key: Array,
        value: Array,
        is_causal: bool = False,
        scale: float | None = None,
        sinks: Array | None = None,
        enable_gqa: bool = False,  # noqa: ARG001 - inferred from the heads
    ) -> Ring:
        work, shared = np.promote_types(query.dtype, np.float32), query.shape[1] // key.shape[1]
        k, v = (np.repeat(x.astype(work), shared, axis=1) for x in (key, value))
        sigma = 1 / np.sqrt(max(query.shape[3], 1)) if scale is None else scale
        return Ring(query.astype(work), k, v, float(sigma), is_causal, sinks, steps)

    @np.errstate(all="ignore")
    def attend(query: Array, *others: Any, **asked: Any) -> Array:
        return opened(query, *others, **asked).output().astype(query.dtype)

    @np.errstate(all="ignore")
    def backward(
        dout: Array, query: Array, key: Array, value: Array, **asked: Any
    ) -> tuple[Array, ...]:
        ring, shared = opened(query, key, value, **asked), query.shape[1] // key.shape[1]
        dq, *of_keys = ring.gradients(dout.astype(ring.q.dtype))
        folded = ((*x.shape[:2], shared, *x.shape[2:]) for x in (key, value))
        sums = [x.reshape(y).sum(axis=2) for x, y in zip(of_keys, folded, strict=True)]
        return tuple(x.astype(query.dtype) for x in (dq, *sums))

    found: Any = attend
    found.__signature__, found.backward = inspect.signature(opened), backward
    return found


def wrong(step: str, spoils: str = "forward", **facts: Any) -> mistake.Decorator:
    """Attention over ranks with one step replaced by the decorated function."""
    return mistake.wrong(Steps(), program, step, spoils=spoils, **facts)


@wrong("places", incident="BUG-44")
def counts_places_on_each_rank(tokens: Array) -> Array:
    """Counts positions from 0 on every rank instead of through the whole sequence."""
    return np.arange(len(tokens))


@wrong("turns", incident="BUG-18", citation="sgl-project/sglang#33353")
def keeps_its_keys_to_itself(ranks: int) -> int:  # noqa: ARG001
    """Attends only to the keys of its own rank: keys are never passed between ranks."""
    return 1


@wrong("sunk", incident="BUG-41")
def counts_a_sink_on_every_rank(turn: int) -> bool:  # noqa: ARG001
    """Counts the attention sink once for the keys of each rank, not once for each query."""
    return True


@wrong("visited", incident="BUG-04")
def skips_ranks_that_come_later(rank: int, other: int, causal: bool) -> bool:
    """In causal calls, skips the keys of later ranks, though these have early tokens too."""
    return not causal or other <= rank


@wrong("merge", incident="BUG-18")
def merges_by_numbers_of_keys(state: State, part: State, counts: tuple[int, int]) -> State:
    """Merges outputs weighted by their numbers of keys instead of by their log-sum-exp."""
    _, lse = merge(state, part, counts)
    share = counts[1] / max(sum(counts), 1)
    return state[0] * (1 - share) + part[0] * share, lse


@wrong("merge", spoils="gradient", incident="BUG-18")
def remembers_the_last_logarithm(state: State, part: State, counts: tuple[int, int]) -> State:
    """Merges outputs, but the backward pass gets the log-sum-exp of the last keys only."""
    return merge(state, part, counts)[0], part[1]


@wrong("spread", incident="BUG-43", citation="NVIDIA/TransformerEngine#1930")
def drops_what_is_left_over(length: int) -> list[Array]:
    """Drops the last tokens unless twice the number of ranks divides the length."""
    return spread(length // (2 * RANKS) * 2 * RANKS)


@wrong("taught", spoils="gradient", incident="BUG-21", citation="NVIDIA/Megatron-LM#1464")
def teaches_the_keys_of_its_own_rank(rank: int, other: int) -> bool:
    """Drops gradients of keys and values that come from queries of other ranks."""
    return rank == other


@wrong("held", spoils="gradient", incident="BUG-21", citation="huggingface/diffusers#14265")
def differentiates_by_its_own_keys(rank: int, other: int) -> int:  # noqa: ARG001
    """Uses the keys and values of its own rank at every turn of the backward pass."""
    return rank
