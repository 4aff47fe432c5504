"""One assertion for a test that says `allclose` today."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec.attention import handed, rounding
from spec.attention.conventions import CONVENTIONS, as_chosen
from spec.attention.notation import Problem
from spec.attention.plug.conventions import opposite_mask
from spec.attention.plug.idle_rows import Declared, as_default
from spec.attention.plug.layouts import USUAL
from spec.attention.refusals import refuse_arrays
from spec.comparison import Violation, equal, near
from spec.formats import FORMATS
from spec.notation import HALF, Array, Grade

# Conventions that the output of a single call shows.
ANSWERED = (
    "fully-masked",
    "fully-masked-bias",
    "causal",
    "window-alignment",
    "slopes-alignment",
    "positions",
    "slopes-ahead",
    "slopes-from",
    "softcap",
    "tanh",
    "parts",
    "grouping",
    "mask-means",
)

ROWS = ("fully-masked", "fully-masked-bias")  # of queries that may attend to no key
NARROWER = "if that is meant, pass q, k and v in the dtype of out, which decides about bounds"


def assert_attention(
    out: Any,
    q: Any,
    k: Any,
    v: Any,
    *,
    rounded: Grade | None = None,
    conventions: Mapping[str, str] | None = None,
    layout: str = USUAL,
    key_padding_mask: Any = None,
    **options: Any,
) -> None:
    """Raise AssertionError, with the worst position, unless `out` is the attention of q, k and v.

    Arrays of NumPy, torch or JAX, all (batch, heads, length, width), or in another layout of
    `handed.PLAIN`, such as "blhd". The dtype of `out` decides what rounding is allowed, and has no
    fewer bits than that of q; in 16 bits that is the eager rounding model, unless `rounded` says
    another one. options: those of `spec.attention.options`, under any of the names that functions
    have for them (attn_mask or mask, is_causal, ...). conventions: choices by name, as
    {"causal": "bottom-right"}; those of `ANSWERED`. key_padding_mask: booleans (B, M), True for
    padding, as in PyTorch; alone, or in addition to a mask. If another convention, layout,
    causality or scale, or the opposite padding, would make `out` correct, the error begins with it.
    Raises TypeError: an unknown or repeated option, an argument that is not an array of a format
    that has bounds, causality that is not True or False. Raises ValueError: an option, a layout or
    a convention that has no such value, inputs that are not finite, or shapes that do not fit.
    """
    __tracebackhide__ = True
    dtype, got = handed.floating("out", out)
    given, *inputs = (handed.finite(*x) for x in (("q", q), ("k", k), ("v", v)))
    if FORMATS[dtype].u > FORMATS[given[0]].u:
        raise AssertionError(f"out is {dtype}, and q is {given[0]}: {NARROWER}")
    asked: dict[str, Any] = {
        p.name: handed.numbers(x, p.whole)[1] if p.axes else x for p, x in handed.said(options)
    }
    handed.checked(asked, options)
    usual: Grade = "eager" if dtype in HALF else "strict"
    asked |= {"dtype": dtype, "rounding": rounded or usual}
    _known(chosen := conventions or {})
    handed.layout_of(layout)
    padding = None if key_padding_mask is None else handed.numbers(key_padding_mask)[1]
    one = Asserted(got, (given[1], *(x for _, x in inputs)), asked, chosen, layout, padding)
    problem = one.problem
    try:
        one.holds(problem)
    except Violation as violation:
        right, wider = _right_with(one)
        words, how = ", or with ".join(right or wider), "" if right else " only if computed"
        advice = f"correct{how} with {words}; otherwise " if words else ""
        raise AssertionError(f"{advice}{_counted(violation)}") from None


@dataclass(frozen=True, eq=False)
class Asserted:
    """An output and its inputs, as they were handed over, and how they are to be understood."""

    out: Array
    inputs: tuple[Array, ...]
    options: Mapping[str, Any]
    chosen: Mapping[str, str]
    layout: str
    padding: Array | None = None

    @property
    def problem(self) -> Problem:
        """The problem that the inputs are. Raises TypeError or ValueError: they are none."""
        __tracebackhide__ = True
        queries, keys, values = self._arrays()
        if self.chosen.get("grouping") == "interleaved" and keys.shape[1]:
            times = (1, queries.shape[1] // keys.shape[1], 1, 1)
            keys, values = np.tile(keys, times), np.tile(values, times)
        asked = {**self.options, "dout": np.zeros((*queries.shape[:3], values.shape[3]))}
        problem = Problem(queries, keys, values, **asked).but(**as_chosen(self.chosen))
        if self.chosen.get("mask-means") == "forbid":
            problem = opposite_mask(problem)
        return problem if self.padding is None else _padded(problem, self.padding)

    def _arrays(self) -> tuple[Array, Array, Array]:
        """The inputs as (batch, heads, length, width). Raises ValueError: they do not fit."""
        __tracebackhide__ = True
        try:
            return self._read(self.layout)
        except ValueError as reason:
            fitting = " or ".join(f"layout={name!r}" for name in self.others() if self.fits(name))
            words = handed.layout_of(self.layout).words
            read = f"as {words}, {reason}" if self.layout != USUAL else str(reason)
            told = f"{read}; they fit with {fitting}" if fitting else read
            raise ValueError(told) from None

    def _read(self, layout: str) -> tuple[Array, Array, Array]:
        form = handed.layout_of(layout)
        queries, keys, values = (handed.ours(x, form) for x in self.inputs)
        refuse_arrays(queries, keys, values, self.options.get("mask"))
        return queries, keys, values

    def others(self) -> Iterator[str]:
        """The other layouts that have as many axes as the queries."""
        axes = self.inputs[0].ndim
        return (x for x, form in handed.PLAIN.items() if form.axes == axes and x != self.layout)

    def fits(self, layout: str) -> bool:
        """Whether the shapes go together in a layout."""
        try:
            self._read(layout)
        except ValueError:
            return False
        return True

    def holds(self, problem: Problem) -> None:
        """Raise Violation unless the output is that of the definition, within its bound.

        The rows of fully masked queries are compared with what was chosen for them.
        """
        form = handed.layout_of(self.layout)
        rows = {name: self.chosen.get(name, CONVENTIONS[name][0]) for name in ROWS}
        found = as_default(handed.ours(self.out, form), Declared(problem, rows), "forward")
        want = rounding.reference(problem).o
        bound = np.broadcast_to(rounding.of_output(problem), want.shape)
        if found.ndim == want.ndim:
            found = handed.theirs(found, form)
        equal(found, handed.theirs(want, form), within=handed.theirs(bound, form))

    def but(self, chosen: Mapping[str, str], **changes: Any) -> "Asserted":
        """The same with these choices in addition, and with changes of options."""
        options = {**self.options, **changes}
        return replace(self, chosen={**self.chosen, **chosen}, options=options)

    def right(self) -> bool:
        """Whether the output is correct."""
        try:
            self.holds(self.problem)
        except (Violation, ValueError):
            return False
        return True


def _padded(problem: Problem, padding: Array) -> Problem:
    """The problem with keys that are padding masked as well. Raises TypeError or ValueError."""
    __tracebackhide__ = True
    if padding.dtype != bool:
        raise TypeError("a key_padding_mask is booleans, where True is padding")
    if padding.shape != (shape := (problem.B, problem.M)):
        raise ValueError(f"a key_padding_mask is (B, M), here {shape}, not {padding.shape}")
    seen = ~padding[:, None, None, :]
    mask = seen if problem.mask is None else problem.mask
    return problem.but(mask=mask & seen if mask.dtype == bool else np.where(seen, mask, -np.inf))


def _counted(violation: Violation) -> str:
    """In how many elements the output is wrong, and the worst; or that its shape is wrong."""
    if not violation.compared:
        return str(violation)
    inside = near(*map(np.asarray, violation.compared))
    return f"{(~inside).sum()} of {inside.size} elements are wrong; the worst is {violation}"


def _right_with(one: Asserted) -> tuple[list[str], list[str]]:
    """Each single change that would make the output correct, as an argument; else pairs.

    Of two changes, one is about the rows of fully masked queries. Then the conventions that leave
    the right output as it is, and allow such errors.
    """
    single = [*_others(ANSWERED, one.chosen)]
    pairs = ({**x, **y} for x in single for y in _others(ROWS[:1], one.chosen) if not {*x} & {*y})
    causal = not one.options.get("causal", Problem.causal)
    changes = {
        f"is_causal={causal}": one.but({}, causal=causal),
        "scale=1.0": one.but({}, scale=1.0),
        **{f"layout={name!r}": replace(one, layout=name) for name in one.others()},
    }
    if one.padding is not None:
        changes["key_padding_mask=~key_padding_mask"] = replace(one, padding=~one.padding)
    right = [x for x in single if one.but(x).right()]
    wider = [x for x in right if not {*x} & {*ROWS} and _is_as_right(one, x)]
    found = [_as_written(x) for x in right if x not in wider]
    found += [words for words, changed in changes.items() if changed.right()]
    if not found and not wider:
        found = [_as_written(x) for x in pairs if one.but(x).right()]
    return found, [*map(_as_written, wider)]


def _is_as_right(one: Asserted, choices: Mapping[str, str]) -> bool:
    """Whether the right output is the same under conventions: they decide about bounds alone."""
    own, usual = (rounding.reference(x.problem).o for x in (one.but(choices), one))
    return np.array_equal(own, usual, equal_nan=True)


def _others(names: Iterable[str], chosen: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Each single choice that was not made."""
    for name in names:
        usual = chosen.get(name, CONVENTIONS[name][0])
        yield from ({name: choice} for choice in CONVENTIONS[name] if choice != usual)


def _as_written(choices: Mapping[str, str]) -> str:
    """Choices of conventions as an argument."""
    inside = ", ".join(f'"{name}": "{choice}"' for name, choice in choices.items())
    return f"conventions={{{inside}}}"


def _known(conventions: Mapping[str, str]) -> None:
    """Raise ValueError for a convention, or a choice of one, that there is not."""
    __tracebackhide__ = True
    for name, choice in conventions.items():
        if name not in ANSWERED:
            raise ValueError(f"unknown convention {name!r}: choose from {', '.join(ANSWERED)}")
        if choice not in CONVENTIONS[name]:
            choices = ", ".join(CONVENTIONS[name])
            raise ValueError(f"unknown choice {choice!r} for {name}: choose from {choices}")
