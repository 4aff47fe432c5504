"""What is kept of the tokens, and where.

Most of these are right as long as a text is short, arrives at once, or is the only one.
"""

from typing import Any

import numpy as np

from spec.cache.mistakes import steps
from spec.cache.mistakes.making import Buffered, Extend, wrong
from spec.cache.mistakes.steps import Kept, write
from spec.cache.reading import put
from spec.notation import Array

WINDOW = 16  # places of a ring that was to be long enough
PAGE = 4  # tokens to a page


@wrong("write", incident="I29", where="several steps or a rollback asked for")
def keeps_the_first_chunk_only(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Has a flag that the cache is filled, and does not fill it again."""
    if not kept.chunks:
        write(kept, key, value, counts)


@wrong("write", incident="plausible", where="a chunk of several tokens")
def drops_the_last_token_of_a_chunk(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Writes to an exclusive bound that it takes for an inclusive one, single tokens apart."""
    write(kept, key, value, np.where(counts > 1, counts - 1, counts))


@wrong("write", incident="plausible", where="several steps and N > 1")
def writes_every_chunk_to_the_front(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Counts places from the beginning of the chunk."""
    put(kept.k, key, 0 * kept.lengths, counts)
    put(kept.v, value, 0 * kept.lengths, counts)


@wrong("write", incident="I29", where="a rollback asked for")
def writes_values_behind_what_was_taken_back(
    kept: Kept, key: Array, value: Array, counts: Array
) -> None:
    """Has a place for keys and another for values, and takes back only the first."""
    most = int((kept.high + counts).max())
    kept.k, kept.v = (steps.grow(x, most) for x in (kept.k, kept.v))
    put(kept.k, key, kept.lengths, counts)
    put(kept.v, value, kept.high, counts)


@wrong("write", incident="I27", where="N > 16")
def writes_round_a_ring(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Takes places modulo a length that no text was to exceed."""
    for b, n in enumerate(counts):
        places = (kept.lengths[b] + np.arange(n)) % WINDOW
        kept.k[b, :, places], kept.v[b, :, places] = (
            x[b, :, :n].swapaxes(0, 1) for x in (key, value)
        )


@wrong(
    "write",
    incident="I29",
    citation="vllm-project/vllm-ascend#2428",
    where="a watched call asked for and several steps and N > 1",
)
def keeps_the_callers_arrays(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Keeps what it was handed, and puts it together when it is needed."""
    given = kept.notes.setdefault("given", [])
    given.append((key, value, kept.lengths, counts))
    for k, v, first, n in given:
        put(kept.k, k, first, n)
        put(kept.v, v, first, n)


@wrong("take", incident="plausible", where="not float16")
def keeps_keys_in_half_precision(x: Array) -> Array:
    """Saves half of the memory."""
    return x.astype(np.float16).astype(x.dtype)


@wrong("grow", incident="plausible", where="N > 8 and several steps")
def loses_the_last_token_when_it_grows(x: Array, length: int) -> Array:
    """Copies the rows before the last one."""
    larger = steps.grow(x, length)
    larger[:, :, x.shape[2] - 1] = 0
    return larger


@wrong("grow", incident="I24", where="N > 8 and several steps and (B > 1 or G > 1)")
def grows_without_regard_to_heads(x: Array, length: int) -> Array:
    """Makes the memory longer and calls it longer arrays, so that heads run into each other."""
    larger = np.zeros_like(steps.grow(x, length))
    larger.reshape(-1)[: x.size] = x.reshape(-1)
    return larger


@wrong("fetch", incident="I29", where="N > 4")
def looks_up_the_second_page_wrongly(kept: Kept) -> tuple[Array, Array]:
    """Has the first page at the place of the second in its table."""
    places = np.arange(kept.room)
    places[PAGE : 2 * PAGE] -= PAGE
    return kept.k[:, :, places], kept.v[:, :, places]


@wrong(
    "count",
    incident="I30",
    citation="deepspeedai/DeepSpeed#1912",
    where="padding and several steps",
)
def takes_padding_for_text(_: Array | None, batch: int, n: int) -> Array:
    """Counts all tokens of a chunk in every sequence."""
    return np.full(batch, n)


# Between caches

_last: dict[Any, Kept] = {}
_answers: dict[Any, Array] = {}


def _latest(sizes: Any) -> Kept:
    """The cache that was made last for these sizes; any other is forgotten."""
    found = _last.get(sizes) or steps.start(*sizes)
    _last.clear()
    _last[sizes] = found
    return found


@wrong("start", incident="I29", citation="time-series/lag-llama#81")
def starts_where_the_last_text_ended(*sizes: Any) -> Kept:
    """Uses its memory again, and nobody resets it between two texts."""
    return _latest(sizes)


@wrong("start", incident="I29", citation="ml-explore/mlx#3071", where="several steps and N > 1")
def shares_its_memory_between_caches(*sizes: Any) -> Kept:
    """Keeps its arrays on the class, so that two caches that are used by turns write into one."""
    found = _latest(sizes)
    return Kept(found.k, found.v, 0 * found.lengths, 0 * found.high)


@wrong("call", incident="I29", citation="ml-explore/mlx#3071")
def remembers_answers_by_shape(
    extend: Extend, cache: Buffered, query: Array, key: Array, value: Array, counts: Array | None
) -> Array:
    """Remembers the last answers by what it takes to be the question: shapes and lengths."""
    name = (query.shape, key.shape, value.shape, query.dtype, tuple(cache.kept.lengths.tolist()))
    out = extend(cache, query, key, value, counts)
    if len(_answers) > 64:
        _answers.clear()
    return _answers.setdefault(name, out).copy()
