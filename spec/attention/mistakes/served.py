"""Known bugs of packed queries whose keys lie in pages: a page or a table row is misread.

Servers call attention in this way: some tokens of a prompt and one token of an answer stand in one
packed array. A block table has a row for each sequence, which lists the pages of its keys. All of
these bugs give right results for a single sequence of full pages, and most for any single sequence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec import mistake
from spec.attention.mistakes import flash, packed
from spec.attention.mistakes.flash import NO_BOUND
from spec.notation import Array


@dataclass(frozen=True)
class Text:
    """One of several packed sequences. number: its index among them.

    first, first_key: the indices of its first query and its first key. keys: its number of keys.
    texts, places: the number of sequences, and the number of keys on a page.
    """

    number: int
    first: int
    first_key: int
    keys: int
    texts: int
    places: int


@dataclass(frozen=True)
class Steps:
    """The steps that a known bug can replace.

    row: the table row that is read. numbers: the index of each key, from which its page follows.
    read: how many of the keys are read.
    """

    row: Callable[[Text], int] = lambda text: text.number
    numbers: Callable[[Text], Array] = lambda text: np.arange(text.keys)
    read: Callable[[Text], int] = lambda text: text.keys


def attend(
    q: Array,
    k: Array,
    v: Array,
    cu_seqlens_q: Array,
    cu_seqlens_k: Array,
    max_seqlen_q: int,
    max_seqlen_k: int,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = NO_BOUND,
    softcap: float = 0.0,
    alibi_slopes: Array | None = None,
    sinks: Array | None = None,
    block_table: Array | None = None,
    *,
    steps: Steps,
) -> Array:
    """The output, computed sequence by sequence.   (queries, H, E)"""
    if block_table is not None:
        k, v = (gathered(x, block_table, cu_seqlens_q, cu_seqlens_k, steps) for x in (k, v))
    return packed.attend(
        q,
        k,
        v,
        cu_seqlens_q,
        cu_seqlens_k,
        max_seqlen_q,
        max_seqlen_k,
        softmax_scale=softmax_scale,
        causal=causal,
        window_size=window_size,
        softcap=softcap,
        alibi_slopes=alibi_slopes,
        sinks=sinks,
        steps=packed.Steps(),
    )


def gathered(pages: Array, table: Array, starts: Array, key_starts: Array, steps: Steps) -> Array:
    """The keys or values of all sequences, concatenated; zeros for those that are not read."""
    found = np.zeros((key_starts[-1], *pages.shape[2:]), pages.dtype)
    for t, (first, first_key) in enumerate(zip(starts[:-1], key_starts[:-1], strict=True)):
        keys = int(key_starts[t + 1] - first_key)
        text = Text(t, int(first), int(first_key), keys, len(table), pages.shape[1])
        number, row = steps.numbers(text), table[steps.row(text)]
        page = np.append(row, 0)[np.minimum(number // text.places, len(row))]
        own = pages[page, number % text.places][: steps.read(text)]
        found[first_key : first_key + len(own)] = own
    return found


def program(steps: Steps) -> Any:
    """Packed attention over pages with these steps, in flash-attn's API dialect."""
    return flash.program(attend, steps)


def wrong(step: str, **facts: Any) -> mistake.Decorator:
    """Packed attention over pages with one step replaced by the decorated function."""
    return mistake.wrong(Steps(), program, step, spoils="forward", **facts)


@wrong("row", incident="BUG-45")
def has_one_row_of_pages_for_all_texts(_: Text) -> int:
    """Uses the first row of the block table for every sequence."""
    return 0


@wrong("row", incident="BUG-45")
def takes_the_row_of_its_first_query(text: Text) -> int:
    """Uses the index of a sequence's first query as its row of the block table."""
    return min(text.first, text.texts - 1)


@wrong("numbers", incident="BUG-45")
def counts_pages_through_all_texts(text: Text) -> Array:
    """Counts the keys of a sequence through all sequences, not from 0, to find their pages."""
    return text.first_key + np.arange(text.keys)


@wrong("read", incident="BUG-45")
def skips_a_page_that_is_not_full(text: Text) -> int:
    """Reads only full pages; the keys and values of a partly filled last page count as zeros."""
    return text.keys // text.places * text.places
