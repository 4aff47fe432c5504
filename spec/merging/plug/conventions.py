"""A merge that was declared to choose otherwise, as one that does not.

A log-sum-exp in base two is ours divided by log 2, and its cotangents go the other way; its
rounding is in the budgets (C_BITS). One of no keys that is +inf is turned where it is read, in the
inputs and, where nothing was merged, in the result.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spec.formats import rounded
from spec.merging.notation import Gradients, Merging, Problem, State

LSE = ("lse_1", "lse_2")
LOG_TWO = np.log(np.longdouble(2))  # more digits than any format that is judged


def under(record: Merging, declared: Mapping[str, str]) -> Merging:
    """The record as one that chooses the default."""
    chosen = {**record.chosen, **declared}
    seen = record.but(conventions=chosen)
    if chosen["lse-base"] == "2":
        seen = _turned(seen, _in_bits, _natural)
    if chosen["fully-masked-lse"] == "+inf":
        seen = _turned(seen, _above, _below)
    return seen


def _turned(
    record: Merging, forth: Callable[[Problem], Problem], back: Callable[[Any, Problem], Any]
) -> Merging:
    def seen(_: str, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda p: back(function(forth(p)), p)

    return record.through(seen)


def _in_bits(p: Problem) -> Problem:
    """The problem with its log-sum-exps in base two."""
    found = {name: getattr(p, name) / LOG_TWO for name in LSE} | {"dlse": p.dlse * LOG_TWO}
    return p.but(**{n: rounded(x, p.lse_dtype).astype(np.float64) for n, x in found.items()})


def _natural(found: Any, _: Problem) -> Any:
    """What was returned of such a problem, in natural units."""
    if isinstance(found, State):
        return found._replace(lse=found.lse * LOG_TWO)
    if isinstance(found, Gradients):
        return found._replace(lse_1=found.lse_1 / LOG_TWO, lse_2=found.lse_2 / LOG_TWO)
    return found


def _above(p: Problem) -> Problem:
    """The problem with +inf for the log-sum-exp of nothing."""
    return p.but(**{name: np.where(np.isneginf(x := getattr(p, name)), np.inf, x) for name in LSE})


def _below(found: Any, p: Problem) -> Any:
    """What was returned, with -inf where both are empty and it is inf, and inf where it is not."""
    if not isinstance(found, State):
        return found
    turned = p.empty[0] & p.empty[1] & np.isinf(found.lse)
    return found._replace(lse=np.where(turned, -found.lse, found.lse))
