"""One assertion for a test that says `allclose` today."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from spec.attention import rounding
from spec.attention.conventions import CONVENTIONS, as_chosen
from spec.attention.notation import Problem
from spec.attention.options import MASK, PARAMETERS
from spec.attention.parameter import Parameter
from spec.attention.plug.idle_rows import Declared, as_default
from spec.attention.refusals import refuse_arrays
from spec.backends import library
from spec.backends.unknown import hint
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
)

ROWS = ("fully-masked", "fully-masked-bias")  # of queries that may attend to no key
NARROWER = "if that is meant, pass q, k and v in the dtype of out, which decides about bounds"
OF_INTEGERS = (
    "a mask of integers is ambiguous: pass booleans, where True lets a query attend to a key, or "
    "floating-point numbers, which are added to the scores"
)


def assert_attention(
    out: Any,
    q: Any,
    k: Any,
    v: Any,
    *,
    rounded: Grade | None = None,
    conventions: Mapping[str, str] | None = None,
    key_padding_mask: Any = None,
    **options: Any,
) -> None:
    """Raise AssertionError, with the worst position, unless `out` is the attention of q, k and v.

    Arrays of NumPy, torch or JAX, all (batch, heads, length, width). The dtype of `out` decides
    what rounding is allowed, and has no fewer bits than that of q; in 16 bits that is the eager
    rounding model, unless `rounded` says another one. options: those of `spec.attention.options`,
    under any of the names that functions have for them (attn_mask or mask, is_causal, ...).
    conventions: choices by name, as {"causal": "bottom-right"}; those of `ANSWERED`.
    key_padding_mask: booleans (B, M), True for padding, as in PyTorch; alone, or in addition to a
    mask. If another convention, causality or scale, or the opposite padding, would make `out`
    correct, the error begins with it.
    Raises TypeError: an unknown or repeated option, an argument that is not an array, causality
    that is not True or False. Raises ValueError: an option or a convention that has no such value,
    or shapes that do not fit together.
    """
    __tracebackhide__ = True
    dtype, got = _numbers(out)
    (given, queries), (_, keys), (_, values) = map(_numbers, (q, k, v))
    if FORMATS[dtype].u > FORMATS[given].u:
        raise AssertionError(f"out is {dtype}, and q is {given}: {NARROWER}")
    asked: dict[str, Any] = {
        p.name: _numbers(x, p.whole)[1] if p.axes else x for p, x in _said(options)
    }
    _checked(asked, options)
    refuse_arrays(queries, keys, values, asked.get("mask"))
    usual: Grade = "eager" if dtype in HALF else "strict"
    asked |= {"dout": np.zeros((*queries.shape[:3], values.shape[3]))}
    asked |= {"dtype": dtype, "rounding": rounded or usual}
    _known(chosen := conventions or {})
    problem = Problem(queries, keys, values, **asked).but(**as_chosen(chosen))
    padding = None if key_padding_mask is None else _padding(key_padding_mask, problem)
    padded = problem if padding is None else _padded(problem, padding)
    try:
        _holds(got, padded, chosen)
    except Violation as violation:
        right, wider = _right_with(got, padded, chosen)
        if padding is not None and _right(got, _padded(problem, ~padding), chosen):
            right.append("key_padding_mask=~key_padding_mask")
        words, how = ", or with ".join(right or wider), "" if right else " only if computed"
        advice = f"correct{how} with {words}; otherwise " if words else ""
        raise AssertionError(f"{advice}{_counted(violation)}") from None


def _padding(x: Any, problem: Problem) -> Array:
    """True for each key that is padding.   (B, M)   Raises TypeError or ValueError."""
    __tracebackhide__ = True
    padding, shape = _numbers(x)[1], (problem.B, problem.M)
    if padding.dtype != bool:
        raise TypeError("a key_padding_mask is booleans, where True is padding")
    if padding.shape != shape:
        raise ValueError(f"a key_padding_mask is (B, M), here {shape}, not {padding.shape}")
    return padding


def _padded(problem: Problem, padding: Array) -> Problem:
    """The problem with keys that are padding masked as well."""
    seen = ~padding[:, None, None, :]
    mask = seen if problem.mask is None else problem.mask
    return problem.but(mask=mask & seen if mask.dtype == bool else np.where(seen, mask, -np.inf))


def _counted(violation: Violation) -> str:
    """In how many elements the output is wrong, and the worst; or that its shape is wrong."""
    if not violation.compared:
        return str(violation)
    inside = near(*map(np.asarray, violation.compared))
    return f"{(~inside).sum()} of {inside.size} elements are wrong; the worst is {violation}"


def _holds(got: Array, problem: Problem, chosen: Mapping[str, str]) -> None:
    """Raise Violation unless the output is that of the definition, within its bound.

    The rows of fully masked queries are compared with what was chosen for them.
    """
    rows = {name: chosen.get(name, CONVENTIONS[name][0]) for name in ROWS}
    found = as_default(got, Declared(problem, rows), "forward")
    equal(found, rounding.reference(problem).o, within=rounding.of_output(problem))


def _right_with(
    got: Array, problem: Problem, chosen: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Each single change that would make the output correct, as an argument; else pairs.

    Of two changes, one is about the rows of fully masked queries. Then the conventions that leave
    the right output as it is, and allow such errors.
    """
    single = [*_others(ANSWERED, chosen)]
    pairs = ({**x, **y} for x in single for y in _others(ROWS[:1], chosen) if not {*x} & {*y})
    options: dict[str, Mapping[str, Any]] = {
        f"is_causal={not problem.causal}": {"causal": not problem.causal},
        "scale=1.0": {"scale": 1.0},
    }
    right = [x for x in single if _right(got, problem, {**chosen, **x})]
    wider = [x for x in right if not {*x} & {*ROWS} and _is_as_right(problem, {**chosen, **x})]
    found = [_as_written(x) for x in right if x not in wider]
    found += [w for w, x in options.items() if _right(got, problem.but(**x), chosen)]
    if not found and not wider:
        found = [_as_written(x) for x in pairs if _right(got, problem, {**chosen, **x})]
    return found, [*map(_as_written, wider)]


def _is_as_right(problem: Problem, chosen: Mapping[str, str]) -> bool:
    """Whether the right output is the same under conventions: they decide about bounds alone."""
    own, usual = (rounding.reference(x).o for x in (problem.but(**as_chosen(chosen)), problem))
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


def _right(got: Array, problem: Problem, chosen: Mapping[str, str]) -> bool:
    """Whether the output is correct under these conventions."""
    try:
        _holds(got, problem.but(**as_chosen(chosen)), chosen)
    except (Violation, ValueError):
        return False
    return True


def _known(conventions: Mapping[str, str]) -> None:
    """Raise ValueError for a convention, or a choice of one, that there is not."""
    __tracebackhide__ = True
    for name, choice in conventions.items():
        if name not in ANSWERED:
            raise ValueError(f"unknown convention {name!r}: choose from {', '.join(ANSWERED)}")
        if choice not in CONVENTIONS[name]:
            choices = ", ".join(CONVENTIONS[name])
            raise ValueError(f"unknown choice {choice!r} for {name}: choose from {choices}")


def _checked(asked: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError for values of options that would be read as others."""
    __tracebackhide__ = True
    causal, mask, scale = (asked.get(name) for name in ("causal", "mask", "scale"))
    if causal is not None and not isinstance(causal, bool | np.bool_):
        hint = 'the alignment is a convention: conventions={"causal": "bottom-right"}'
        raise TypeError(f"causality is {causal!r}, want True or False; {hint}")
    if scale is not None and not np.isfinite(scale):
        raise ValueError(f"a scale is a finite number, or None, not {scale!r}")
    if any(_integers(options[name]) for name in MASK.spellings + MASK.added if name in options):
        raise TypeError(OF_INTEGERS)
    if mask is not None and mask.dtype == bool and {*MASK.added} & {*options}:
        raise ValueError("what is added to the scores is numbers, not truth values")


def _integers(mask: Any) -> bool:
    """Whether a mask has integers, such as 0 and 1, which other programs read as booleans."""
    return "int" in str(getattr(mask, "dtype", ""))


def _numbers(x: Any, whole: bool = False) -> tuple[str, Array]:
    """The dtype of an array of any library, and its numbers as float64, or bool.

    whole: as int64 where they are integers, and are to be.
    """
    __tracebackhide__ = True
    module = type(x).__module__.partition(".")[0]
    name = {"torch": "torch", "jax": "jax", "jaxlib": "jax"}.get(module, "numpy")
    arrays = library(name)
    dtype = arrays.dtype_of(x)
    if dtype is None:
        raise TypeError(f"an array of NumPy, torch or JAX is wanted, not {type(x).__name__}")
    numbers = arrays.get(x)
    if "bool" in dtype:
        return dtype, numbers.astype(bool)
    return dtype, numbers.astype(np.int64) if whole and "int" in dtype else numbers


def _said(options: Mapping[str, Any]) -> Iterator[tuple[Parameter, Any]]:
    """What options of any spelling say, but for what the arrays tell.

    Raises TypeError: there is none of that name, or one is said twice.
    """
    __tracebackhide__ = True
    known = {x: p for p in PARAMETERS for x in (*p.spellings, *p.added) if x not in p.own}
    names: dict[Parameter, str] = {}
    for name, x in options.items():
        if name not in known:
            listed = f"there are {', '.join(known)}{hint(name, known)}"
            raise TypeError(f"no option is called {name!r}: {listed}")
        if x is None:
            continue
        if (first := names.setdefault(known[name], name)) != name:
            raise TypeError(f"{first!r} and {name!r} are two names of one option")
        if not known[name].told:
            yield known[name], x
