"""Known bugs of rollback and fork: rolled-back tokens must be gone, and all others must stay.

A test that only adds tokens finds none of them.
"""

from dataclasses import replace

import numpy as np

from spec.cache.mistakes.making import wrong
from spec.cache.mistakes.steps import Kept, branch
from spec.notation import Array


@wrong("forget", incident="plausible", where="a rollback asked for")
def takes_back_one_too_few(kept: Kept, lengths: Array) -> None:
    """Rolls back one token too few: it treats the length as the position of the last token."""
    kept.lengths = np.minimum(lengths + 1, kept.lengths)


@wrong("forget", incident="plausible", where="a rollback asked for")
def takes_back_one_too_many(kept: Kept, lengths: Array) -> None:
    """Rolls back one token too many: it treats the position of the last token as the length."""
    kept.lengths = np.maximum(lengths - 1, 0)


@wrong("forget", incident="plausible", where="a rollback asked for")
def takes_a_length_of_zero_for_none(kept: Kept, lengths: Array) -> None:
    """Ignores a rollback to length zero, because it tests `if length`."""
    kept.lengths = np.where(lengths == 0, kept.lengths, lengths)


@wrong("forget", incident="plausible", where="a rollback asked for")
def takes_back_nothing(kept: Kept, lengths: Array) -> None:
    """Ignores every rollback: the tokens stay, and new ones are added after them."""
    del kept, lengths


@wrong("forget", incident="BUG-30", where="a rollback asked for and padding")
def takes_all_sequences_back_to_the_shortest(kept: Kept, lengths: Array) -> None:
    """Rolls all sequences back to the smallest of the requested lengths."""
    kept.lengths = np.full_like(lengths, lengths.min())


@wrong(
    "forget",
    incident="BUG-46",
    citation="Blaizzy/mlx-vlm#1748",
    where="a rollback asked for and a window",
)
def cuts_a_ring_as_if_it_were_flat(kept: Kept, lengths: Array) -> None:
    """Cuts a ring at the length to go back to, which after a wrap keeps other tokens."""
    W = kept.window or kept.room
    for b, (length, n) in enumerate(zip(kept.lengths, lengths, strict=True)):
        slots = np.arange(min(n, W, length))
        lying = slots + W * np.maximum((length - 1 - slots) // W, 0)  # the tokens in the ring
        for x in (kept.k, kept.v):
            x[b, :, n - len(slots) : n] = x[b, :, lying].swapaxes(0, 1)
    kept.lengths = lengths


@wrong("forget", incident="plausible", where="a rollback asked for and a window")
def goes_back_without_the_window(kept: Kept, lengths: Array) -> None:
    """Makes a cache for the tokens that stay, and does not tell it the window."""
    kept.lengths, kept.window = lengths, None


@wrong("branch", incident="plausible", where="a fork asked for and a window")
def branches_without_the_window(kept: Kept) -> Kept:
    """Makes a fork that has no window."""
    return replace(branch(kept), window=None)


@wrong("branch", incident="BUG-29", where="a fork asked for and M > 1")
def branches_into_the_same_memory(kept: Kept) -> Kept:
    """Forks without a copy of the keys and values, so both caches write to the same memory."""
    return Kept(kept.k, kept.v, kept.lengths.copy(), kept.high.copy())


@wrong("branch", incident="BUG-29", where="a fork asked for")
def branches_into_itself(kept: Kept) -> Kept:
    """Returns the cache itself as its fork."""
    return kept


@wrong("branch", incident="plausible", where="a fork asked for")
def branches_without_the_last_token(kept: Kept) -> Kept:
    """Zeroes the keys of a fork from the last token of the shortest sequence onwards."""
    made = branch(kept)
    made.k[:, :, kept.lengths.min() - 1 :] = 0
    return made


@wrong("branch", incident="plausible", how={"persistent": True})
def promises_what_it_does_not_keep(kept: Kept) -> Kept:
    """Declares that earlier states stay valid (`persistent`), but changes them in place."""
    return branch(kept)
