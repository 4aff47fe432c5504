"""Known bugs of positions: side effects, and row numbers used in place of positions.

The first two bugs give positions an effect that they must not have. The others compute the output
from positions, but gradients, weights or the log-sum-exp from row numbers.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from spec.attention.mistakes.given import Given
from spec.attention.mistakes.making import RIGHT, Attend, forward, wrong
from spec.attention.mistakes.placing import Placed, in_rows, rows
from spec.attention.mistakes.steps import Pass
from spec.notation import Array

OFF = "positions that differ from row numbers"


def placed(given: Any) -> bool:
    """Whether positions are given, for queries or for keys."""
    return given.query_positions is not None or given.key_positions is not None


@wrong("call", incident="plausible", spoils="forward", where="positions and not causal")
def is_causal_where_there_are_positions(attend: Attend, given: Given) -> Array:
    """Applies causality whenever positions are given, even if the call is not causal."""
    return attend(given.but(is_causal=True) if placed(given) else given)


@wrong("call", incident="plausible", spoils="forward", where="positions and not segments")
def takes_a_gap_for_the_start_of_a_text(attend: Attend, given: Given) -> Array:
    """Starts a new segment wherever a position is not one more than the previous position."""
    both = given.query_positions, given.key_positions
    if not placed(given) or given.query_segments is not None:
        return attend(given)
    counted = zip(both, rows(given), strict=True)
    mine, theirs = (starts(row if x is None else x) for x, row in counted)
    return attend(given.but(query_segments=mine, key_segments=theirs))


def starts(x: Array) -> Array:
    """The number of tokens up to each whose position does not follow the previous.   (B, length)"""
    return np.asarray(np.cumsum(np.diff(x, prepend=x[:, :1] - 1) != 1, axis=1))


def by_rows(seen: Pass) -> Pass:
    """The same forward pass, with row numbers as positions."""
    return forward(in_rows(seen.given), RIGHT)


@wrong("place", spoils="gradient", incident="BUG-44", where=f"gradients asked for and {OFF}")
def differentiates_without_the_positions(_: Any) -> Placed:
    """Recomputes the weights in the backward pass from row numbers instead of positions."""
    return None, None


@wrong(
    "slope_gradients",
    incident="BUG-44",
    where=f"gradients of the slopes asked for and {OFF} and ALiBi slopes",
)
def differentiates_slopes_by_rows(seen: Pass, ds: Array) -> Array:
    """Computes the gradient of the ALiBi slopes from row numbers instead of positions."""
    return RIGHT.slope_gradients(replace(seen, given=in_rows(seen.given)), ds)


@wrong("show", incident="BUG-44", where=f"the weights asked for and {OFF}")
def shows_weights_by_rows(seen: Pass) -> Array:
    """Recomputes the returned weights from row numbers instead of positions."""
    return RIGHT.show(seen if seen.given.query_positions is None else by_rows(seen))


@wrong("measure", incident="BUG-44", where=f"the log-sum-exp asked for and {OFF}")
def measures_lse_by_rows(seen: Pass) -> Array:
    """Computes the log-sum-exp from row numbers instead of positions."""
    return RIGHT.measure(seen if seen.given.query_positions is None else by_rows(seen))
