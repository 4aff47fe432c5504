"""Taking back and branching: what was read must be gone, or stay, and nothing else.

A test that only ever goes on sees none of these.
"""

import numpy as np

from spec.cache.mistakes.making import wrong
from spec.cache.mistakes.steps import Kept, branch
from spec.notation import Array


@wrong("forget", incident="plausible", where="a rollback asked for")
def takes_back_one_too_few(kept: Kept, lengths: Array) -> None:
    """Takes a length for the place of the last token."""
    kept.lengths = np.minimum(lengths + 1, kept.lengths)


@wrong("forget", incident="plausible", where="a rollback asked for")
def takes_back_one_too_many(kept: Kept, lengths: Array) -> None:
    """Takes the place of the last token for a length."""
    kept.lengths = np.maximum(lengths - 1, 0)


@wrong("forget", incident="plausible", where="a rollback asked for")
def takes_a_length_of_zero_for_none(kept: Kept, lengths: Array) -> None:
    """Writes `if length:`, and does nothing where everything is to be taken back."""
    kept.lengths = np.where(lengths == 0, kept.lengths, lengths)


@wrong("forget", incident="plausible", where="a rollback asked for")
def takes_back_nothing(kept: Kept, lengths: Array) -> None:
    """Leaves the tokens where they are, and goes on behind them."""
    del kept, lengths


@wrong("forget", incident="I30", where="a rollback asked for and padding")
def takes_all_sequences_back_to_the_shortest(kept: Kept, lengths: Array) -> None:
    """Has one length to go back to, and takes the smallest."""
    kept.lengths = np.full_like(lengths, lengths.min())


@wrong("branch", incident="I29", where="a fork asked for and M > 1")
def branches_into_the_same_memory(kept: Kept) -> Kept:
    """Copies the lengths and not what is behind them, so that branches write over each other."""
    return Kept(kept.k, kept.v, kept.lengths.copy(), kept.high.copy())


@wrong("branch", incident="I29", where="a fork asked for")
def branches_into_itself(kept: Kept) -> Kept:
    """Hands out the cache itself as its branch."""
    return kept


@wrong("branch", incident="plausible", where="a fork asked for")
def branches_without_the_last_token(kept: Kept) -> Kept:
    """Copies whole pages, and not the one that is being filled."""
    made = branch(kept)
    made.k[:, :, kept.lengths.min() - 1 :] = 0
    return made


@wrong("branch", incident="plausible", how={"persistent": True})
def promises_what_it_does_not_keep(kept: Kept) -> Kept:
    """Says that earlier states stay as they were, and writes in place."""
    return branch(kept)
