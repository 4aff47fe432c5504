"""The record of a cache that somebody wrote: a class of NumPy or torch arrays.

    class MyCache:
        def __init__(self, batch, key_heads, capacity, width, value_width, dtype): ...
        def extend(self, query, key, value, counts=None): ...   # -> out
        def rollback(self, lengths): ...                        # optional
        def fork(self): ...                                     # optional -> MyCache

    from spec.cache.plug import cache
    record = cache(MyCache)

Of the constructor's arguments any may be left out; they are matched by name. A cache with
no `value_width` has one width for both. With a `window` parameter it gets the number of keys that
a token may attend to, its own the last of them, or None, and may forget the others. query is
(batch, heads, n, width), key and value (batch, key_heads, n, ...), and out like query but as
wide as values. `counts`, where it is taken, says how many of the n tokens each sequence
gets; it is None when all get n. `lengths` is an integer, or one for each sequence where
they differ. A method may change the cache and return only the output, or leave it
as it is and return the new cache, `extend` as (out, cache); a class whose attribute
`persistent` is true promises the second. One whose attribute `fewer_queries` is true takes
chunks with fewer queries than keys, which are the queries of its first tokens.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from spec.backends import Unsuitable
from spec.backends.calling import plugged, probing, quoted, required_beside, told
from spec.backends.library import Library, name_of
from spec.backends.results import check, numbers, refusing
from spec.cache.notation import Chunk, Problem
from spec.cache.record import KINDS, Cache, Capability, State
from spec.entries import bits_of_tf32, eighths
from spec.notation import Array, Call
from spec.subject import Refused, holding, not_offered

INPUTS = ("query", "key", "value")
SPOILED = 3.0  # what a caller writes into its arrays after the call; a number of every format
LIBRARIES = ("numpy", "torch")
KNOWN = (
    *("batch", "heads", "key_heads", "capacity", "width", "value_width"),
    *("window", "dtype", "device"),
)


def cache(target: Callable[..., Any], **how: Any) -> Cache:
    """The record of a class of caches, or of whatever makes one when it is called.

    how: as `spec.backends.calling.plugged` has it.
    Raises Unsuitable: what cannot be constructed, or has no `extend` that answers two chunks
    with outputs of the right shape and dtype.
    """
    if not callable(target):
        raise Unsuitable(f"a cache is a class, or a function that makes one; got {target!r:.60}")
    arrays, facts = plugged(target, **how)
    if arrays.name not in LIBRARIES:
        raise Unsuitable(f"caches are judged in NumPy and torch, not in {arrays.name}")
    made = Made(target, arrays, wanted := constructor(target, facts["name"]))
    first = made.probed(facts["dtypes"][0])
    left_out = {
        Capability.RAGGED: "counts" not in (told(first.extend) or ()),
        Capability.WINDOW: "window" not in wanted,
        Capability.WIDTHS: "width" in wanted and "value_width" not in wanted,
    }
    return Cache(
        **facts,
        begin=made.begin,
        extend=made.extend,
        watched=made.watched,
        rollback=made.rollback if hasattr(first, "rollback") else not_offered,
        fork=made.fork if hasattr(first, "fork") else not_offered,
        fewer=made.extend if getattr(first, "fewer_queries", False) else not_offered,
        persistent=bool(getattr(first, "persistent", False)),
        answers=KINDS - holding(left_out),
    )


def constructor(target: Callable[..., Any], name: str) -> tuple[str, ...]:
    """Which of the arguments that a cache may be made with `target` takes."""
    parameters = told(target) or {}
    if others := required_beside(parameters, KNOWN):
        known = f"which cannot be filled; known are {', '.join(KNOWN)}"
        raise Unsuitable(f"{name} requires {quoted(others)}, {known}")
    bound = target.keywords if isinstance(target, partial) else {}
    return tuple(n for n in KNOWN if n in parameters and n not in bound)


LACKS_EXTEND = "it has no method extend(query, key, value)"


@dataclass(frozen=True)
class Made:
    """A function that makes caches, the library whose arrays they take, and its arguments."""

    make: Callable[..., Any]
    library: Library
    wanted: tuple[str, ...]

    def begin(self, problem: Problem) -> State:
        """A cache that was just made."""
        p, library = problem, self.library
        sizes = (p.B, p.H, p.G, p.capacity, p.D, p.E)
        others = (p.window, library.format(p.dtype), library.device)
        given = dict(zip(KNOWN, (*sizes, *others), strict=True))
        with self.library.quiet(problem.dtype), refusing():
            return State(problem, self.make(**{name: given[name] for name in self.wanted}))

    def extend(self, state: State, chunk: Chunk) -> tuple[Array, State]:
        """The output (B, H, n, E), and the state after. Raises Violation or Refused."""
        with self.library.quiet(state.problem.dtype):
            views = [self.library.placed(x, state.problem.dtype)[1] for x in chunk[:3]]
            out, kept = self._extended(state, chunk, views)
            return numbers(self.library, out), State(state.problem, kept)

    def watched(self, state: State, chunk: Chunk) -> tuple[Call, State]:
        """The same as its caller sees it, who then writes into the arrays that it gave."""
        with self.library.quiet(state.problem.dtype):
            placed = [self.library.placed(x, state.problem.dtype) for x in chunk[:3]]
            before = [self.library.copied(buffer) for buffer, _ in placed]
            out, kept = self._extended(state, chunk, [view for _, view in placed])
            seen = numbers(self.library, out)
            earlier, then = state.given or (out, seen)
            named = list(zip(INPUTS, placed, before, strict=True))
            call = Call(
                out=seen,
                dtype=self.library.dtype_of(out) or "",
                changed=tuple(n for n, (x, _), y in named if not self.library.same(x, y)),
                aliased=tuple(n for n, (x, _), _ in named if self.library.overlap(out, x)),
                reused=not np.array_equal(numbers(self.library, earlier), then, equal_nan=True),
            )
            for buffer, _ in placed:
                buffer[...] = SPOILED
            return call, State(state.problem, kept, given=(out, seen))

    def rollback(self, state: State, lengths: Array) -> State:
        """The state after the first tokens alone."""
        even = (lengths == lengths[0]).all()
        with self.library.quiet(state.problem.dtype), refusing():
            kept = state.kept.rollback(int(lengths[0]) if even else self.library.integers(lengths))
        return State(state.problem, state.kept if kept is None else kept)

    def fork(self, state: State) -> State:
        """A second cache that has read the same."""
        with self.library.quiet(state.problem.dtype), refusing():
            return State(state.problem, state.kept.fork())

    def probed(self, dtype: str) -> Any:
        """A cache that answered two chunks. Raises Unsuitable where it does not."""
        problem = text(dtype)
        q, k, v = problem.text
        name, arrays = name_of(self.make), f"arrays of {self.library.name} in {dtype}"
        where = f" (it was given {arrays}: --backend and --dtype choose others)"
        with probing(f"{name} is no cache", where):
            state = first = self.begin(problem)
            if not hasattr(first.kept, "extend"):
                raise Unsuitable(f"{name} is no cache: {LACKS_EXTEND}")
            for at in (slice(0, 2), slice(2, 4)):
                chunk = Chunk(q[:, :, at], k[:, :, at], v[:, :, at], np.full(2, 2))
                _, state = self.extend(state, chunk)
        return first.kept

    def _extended(self, state: State, chunk: Chunk, views: list[Any]) -> tuple[Any, Any]:
        """The native output and the cache after."""
        kept = state.kept
        options = {} if chunk.even else {"counts": self.library.integers(chunk.counts)}
        if not hasattr(kept, "extend"):
            raise Refused(LACKS_EXTEND)
        with refusing():
            result = kept.extend(*views, **options)
        out, after = result if isinstance(result, tuple) and len(result) == 2 else (result, kept)
        shape = (*chunk.q.shape[:3], chunk.v.shape[-1])
        check(self.library, out, shape, state.problem.dtype, "the output")
        return out, after


def text(dtype: str) -> Problem:
    """A text of five tokens in two sequences, in chunks of two, and another of two tokens."""
    parts = [eighths(2, 3, length, 4, seed=i) for i, length in enumerate((5, 5, 5, 2, 2, 2))]
    drawn = zip(Problem.axes, (*parts, np.full((2, 2), 2), np.full(2, 5)), strict=True)
    return Problem(**dict(drawn), dtype=dtype)  # type: ignore[arg-type]


def telling(_: str) -> Mapping[str, tuple[Problem, ...]]:
    """Texts with values that TF32 makes others, and that fewer bits do; in float32."""
    plain = text("float32")
    return {"products": tuple(plain.but(v=v) for v in bits_of_tf32(plain.v))}
