"""Known bugs in how a cache stores tokens: which numbers, and at which positions.

Most of them do not show if a sequence is short, arrives in one chunk, or is the only one.
"""

from typing import Any

import numpy as np

from spec.cache.mistakes import steps
from spec.cache.mistakes.making import Buffered, Extend, wrong
from spec.cache.mistakes.steps import Kept, write
from spec.cache.reading import put
from spec.notation import Array

WINDOW = 16  # positions of a ring that is too short for a longer sequence
PAGE = 4  # tokens per page


@wrong("write", incident="BUG-29", where="several steps or a rollback asked for")
def keeps_the_first_chunk_only(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Stores the first chunk only; the keys and values of later chunks are lost."""
    if not kept.chunks:
        write(kept, key, value, counts)


@wrong("write", incident="plausible", where="a chunk of several tokens")
def drops_the_last_token_of_a_chunk(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Does not store the last token of a chunk of several tokens, but counts it."""
    write(kept, key, value, np.where(counts > 1, counts - 1, counts))


@wrong("write", incident="plausible", where="several steps and N > 1")
def writes_every_chunk_to_the_front(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Writes every chunk at position 0 instead of after the tokens before it."""
    put(kept.k, key, 0 * kept.lengths, counts)
    put(kept.v, value, 0 * kept.lengths, counts)


@wrong("write", incident="plausible", where="a full cache")
def keeps_one_place_free(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Does not store the token that would take the last place, as its comparison is off by one."""
    write(kept, key, value, np.minimum(counts, np.maximum(kept.capacity - 1 - kept.lengths, 0)))


@wrong("write", incident="plausible", where="a full cache")
def drops_all_of_a_last_chunk(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Stores nothing of a chunk that would fill the cache."""
    write(kept, key, value, np.where(kept.lengths + counts < kept.capacity, counts, 0))


@wrong("write", incident="BUG-29", where="a rollback asked for")
def writes_values_behind_what_was_taken_back(
    kept: Kept, key: Array, value: Array, counts: Array
) -> None:
    """Writes values after rolled-back tokens, but keys over them, so keys and values mismatch."""
    most = int((kept.high + counts).max())
    kept.k, kept.v = (steps.grow(x, most) for x in (kept.k, kept.v))
    put(kept.k, key, kept.lengths, counts)
    put(kept.v, value, kept.high, counts)


@wrong("write", incident="BUG-27", where="N > 16")
def writes_round_a_ring(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Writes to a ring of 16 positions, so later tokens overwrite the first ones."""
    for b, n in enumerate(counts):
        places = (kept.lengths[b] + np.arange(n)) % WINDOW
        kept.k[b, :, places], kept.v[b, :, places] = (
            x[b, :, :n].swapaxes(0, 1) for x in (key, value)
        )


@wrong(
    "write",
    incident="BUG-29",
    citation="vllm-project/vllm-ascend#2428",
    where="a watched call asked for and several steps and N > 1",
)
def keeps_the_callers_arrays(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Keeps the caller's arrays instead of copies, and reads them again at every step."""
    given = kept.notes.setdefault("given", [])
    given.append((key, value, kept.lengths, counts))
    for k, v, first, n in given:
        put(kept.k, k, first, n)
        put(kept.v, v, first, n)


@wrong("take", incident="plausible", where="not float16")
def keeps_keys_in_half_precision(x: Array) -> Array:
    """Rounds keys and values to float16 when it stores them."""
    return x.astype(np.float16).astype(x.dtype)


@wrong("grow", incident="plausible", where="N > 8 and several steps")
def loses_the_last_token_when_it_grows(x: Array, length: int) -> Array:
    """Zeroes the last position of the old memory when it copies it to a larger one."""
    larger = steps.grow(x, length)
    larger[:, :, x.shape[2] - 1] = 0
    return larger


@wrong("grow", incident="BUG-24", where="N > 8 and several steps and (B > 1 or G > 1)")
def grows_without_regard_to_heads(x: Array, length: int) -> Array:
    """Copies memory without regard to its shape when it grows, so heads and sequences mix."""
    larger = np.zeros_like(steps.grow(x, length))
    larger.reshape(-1)[: x.size] = x.reshape(-1)
    return larger


@wrong("fetch", incident="BUG-29", where="N > 4")
def looks_up_the_second_page_wrongly(kept: Kept) -> tuple[Array, Array]:
    """Reads the first page (4 tokens) also in place of the second page."""
    places = np.arange(kept.room)
    places[PAGE : 2 * PAGE] -= PAGE
    return kept.k[:, :, places], kept.v[:, :, places]


@wrong(
    "count",
    incident="BUG-30",
    citation="deepspeedai/DeepSpeed#1912",
    where="padding and several steps",
)
def takes_padding_for_text(_: Array | None, batch: int, n: int) -> Array:
    """Counts padding tokens of a chunk as tokens of the sequence."""
    return np.full(batch, n)


# State that caches share

_last: dict[Any, Kept] = {}
_answers: dict[Any, Array] = {}


def _latest(sizes: Any) -> Kept:
    """The cache that was made last for these sizes, or a new one; all others are forgotten."""
    found = _last.get(sizes) or steps.start(*sizes)
    _last.clear()
    _last[sizes] = found
    return found


@wrong("start", incident="BUG-29", citation="time-series/lag-llama#81")
def starts_where_the_last_text_ended(*sizes: Any) -> Kept:
    """Starts a new sequence with the tokens of the previous one, because it resets nothing."""
    return _latest(sizes)


@wrong("start", incident="BUG-29", citation="ml-explore/mlx#3071", where="several steps and N > 1")
def shares_its_memory_between_caches(*sizes: Any) -> Kept:
    """Shares memory between all caches of the same sizes, so they overwrite each other's keys."""
    found = _latest(sizes)
    return Kept(found.k, found.v, 0 * found.lengths, 0 * found.high)


@wrong("call", incident="BUG-29", citation="ml-explore/mlx#3071")
def remembers_answers_by_shape(
    extend: Extend, cache: Buffered, query: Array, key: Array, value: Array, counts: Array | None
) -> Array:
    """Caches outputs by shapes, dtype and lengths, and returns them for other contents."""
    name = (query.shape, key.shape, value.shape, query.dtype, tuple(cache.kept.lengths.tolist()))
    out = extend(cache, query, key, value, counts)
    if len(_answers) > 64:
        _answers.clear()
    return _answers.setdefault(name, out).copy()
