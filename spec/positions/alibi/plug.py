"""The record of an ordinary program that makes linear biases."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from spec.backends import Unsuitable
from spec.backends.library import name_of
from spec.backends.results import watched
from spec.notation import Array, Call
from spec.positions.alibi.notation import LinearBias, Problem
from spec.positions.calling import Made, made
from spec.positions.record import Capability
from spec.subject import Refused, not_offered

ANSWERS = {"first": (), "slopes": (Capability.SLOPES,), "dtype": ()}


def linear_bias(target: Callable[..., Any], **how: Any) -> LinearBias:
    """The record of a program that makes linear biases (Press et al. 2022, section 3).

    target: bias(heads, queries, keys) gives (heads, queries, keys), the queries being the last
        of the keys. Where they are parameters, it is given first (offset, start, ...), the
        number of keys before the queries, slopes (alibi_slopes), (heads), and dtype, as the
        library writes it; without, it is judged in the one that it returns.
        `bias.slopes(heads[, dtype])` shows the slopes, (heads).
    how: as `spec.positions.calling.made` has it; conventions {"sides": "both"} for -m |i - j|. By
        default keys in the future may have any bias that a mask can hide.
    Raises Unsuitable as `made` does, and for a class, and for a program without
    `dtype` that fails for one head, or returns no array.
    """
    if inspect.isclass(target):
        raise Unsuitable(f"{name_of(target)} is a class, want a function of heads, queries, keys")
    ready, facts = made(LinearBias, target, 3, ANSWERS, **how)
    if not how.get("dtypes") and "dtype" not in ready.options:
        facts["dtypes"] = (_returned(ready),)
    seen = Seen(ready)
    return LinearBias(
        **facts,
        bias=seen.bias,
        slopes=seen.slopes if ready.attribute("slopes") else not_offered,
        call=seen.watched,
    )


@dataclass(frozen=True)
class Seen:
    """A function of sizes, seen as functions of a problem."""

    made: Made

    def bias(self, problem: Problem) -> Array:
        """b (H, N, M)."""
        with self.made.running(problem.dtype):
            return self._read(self._call(problem), problem)

    def watched(self, problem: Problem) -> Call:
        """The bias as its caller sees it."""
        with self.made.running(problem.dtype):
            call = partial(self._call, problem)
            return watched(self.made.library, {}, call, lambda b: self._read(b, problem))

    def slopes(self, problem: Problem) -> Array:
        """m (H), as the program shows them."""
        show = self.made.attribute("slopes")
        assert show is not None
        takes = "dtype" in inspect.signature(show).parameters
        asked = {"dtype": self.made.library.format(problem.dtype)} if takes else {}
        with self.made.running(problem.dtype):
            m = show(problem.H, **asked)
            return self.made.read(m, (problem.H,), problem.dtype, "the slopes")

    def _call(self, problem: Problem) -> Any:
        library, dtype = self.made.library, problem.dtype
        asked = {"first": problem.first, "dtype": library.format(dtype)}
        if problem.asked is not None:
            asked["slopes"] = library.placed(problem.asked, dtype)[1]
        return self.made.target(problem.H, problem.N, problem.M, **self.made.named(asked))

    def _read(self, b: Any, problem: Problem) -> Array:
        return self.made.read(b, problem.scores.shape, problem.dtype, "the bias")


def _returned(made: Made) -> str:
    """The dtype of what a program without `dtype` returns. Raises Unsuitable."""
    arrays, name = made.library, name_of(made.target)
    try:
        with made.running("float64"):
            found = arrays.dtype_of(made.target(1, 1, 1))
    except Refused as refusal:
        raise Unsuitable(f"{name} fails for one head: {refusal}") from None
    if found not in arrays.dtypes:
        raise Unsuitable(f"{name} returns no array of {arrays.name}: {found}")
    return found
