"""The terms that all chapters share: symbols, axes, problems, calls.

Axes
    B batch    H query heads    G key heads    N queries    M keys
    D score width    E value width

Arrays
    q (B, H, N, D)    k (B, G, M, D)    v (B, G, M, E)    o (B, H, N, E)
    s scores, a weights, bias b: (B, H, N, M)    lse (B, H, N)
    dout is shaped like o; dq, dk, dv like q, k, v

Indices
    i is a query, j a key, c a column of a value; s_ij = scale <q_i, k_j> + b_ij

Words
    A key is *masked* for a query that may not attend to it. A query for which
    every key is masked is *fully masked* (`idle` in code).

Every array of a problem holds float64 numbers that `dtype`, the format under test, represents
exactly. So a bfloat16 problem needs no bfloat16 in NumPy.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from spec.stream import Stream

T = TypeVar("T")
Array = NDArray[Any]
Index = Array | slice | list[int]
Grade = Literal["strict", "flash", "eager"]
Products = Literal["exact", "cut", "tf32"]
Memory = Literal["contiguous", "transposed", "strided", "offset", "expanded"]

GRADES: tuple[Grade, ...] = ("strict", "flash", "eager")  # each allows all of the one before
HALF = ("float16", "bfloat16")  # the formats for which a rounding model is detected
DTYPES = ("float64", "float32", "float16", "bfloat16")
SHORT = {  # other names of formats, as people write them
    **dict.fromkeys(("fp64", "f64", "double"), "float64"),
    **dict.fromkeys(("fp32", "f32", "single", "float"), "float32"),
    **dict.fromkeys(("fp16", "f16", "half"), "float16"),
    "bf16": "bfloat16",
}


def read_only(record: Any) -> None:
    """Replace the arrays of a frozen record by read-only views."""
    held = vars(record)
    arrays = [name for name, x in held.items() if isinstance(x, np.ndarray) and x.flags.writeable]
    for name in arrays:
        held[name] = shared = held[name].view()
        shared.setflags(write=False)


class Once(Generic[T]):
    """An attribute that is computed on first use, and then is an ordinary attribute.

    `functools.cached_property` holds a lock during the call, which in Python 3.11 takes longer than
    a sum of a few numbers; and a problem has some fifty such attributes.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self.name = name

    def __get__(self, record: Any, _: type | None = None) -> T:
        if record is None:
            return self  # type: ignore[return-value]
        found = record.__dict__[self.name] = self.function(record)
        return found


once = Once


def names(kind: Any) -> tuple[str, ...]:
    """The names of the fields of a class of records, in order."""
    if kind not in _named:
        _named[kind] = tuple(field.name for field in fields(kind))
    return _named[kind]


_named: dict[Any, tuple[str, ...]] = {}  # `functools.cache` takes no class without a hash, to mypy


class Length(Once[int]):
    """The length of an axis of an array, as an attribute of the problem that has the array."""

    def __init__(self, array: str, axis: int) -> None:
        super().__init__(lambda problem: int(getattr(problem, array).shape[axis]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Posed:
    """The common part of all problems, whatever they are about.

    dtype: the format of the arrays. rounding, products: the rounding model that an implementation
    may use, and that of its matrix units (`spec.attention.rounding.units`).
    seed: decides what a clause still has to choose (a permutation, a position to cut at).
    """

    dtype: str = "float64"
    rounding: Grade = "strict"
    products: Products = "exact"
    seed: int = 0

    # Fields that are not shown among the options.
    shown_elsewhere: ClassVar[tuple[str, ...]] = ("dtype", "rounding", "products")
    axes: ClassVar[Mapping[str, str]] = {}  # the letters of each array's last axes

    def __post_init__(self) -> None:
        read_only(self)

    def but(self, **changes: Any) -> Self:
        """The same problem, except for `changes`. Raises TypeError for what is no field.

        `dataclasses.replace` does this as well, in twice the time, and problems are made often.
        """
        held, own = vars(self), names(type(self))
        if unknown := [name for name in changes if name not in own]:
            raise TypeError(f"a problem has no {', '.join(unknown)}")
        new = object.__new__(type(self))
        vars(new).update({name: held[name] for name in own}, **changes)
        new.__post_init__()
        return new

    def only(self, kind: type) -> dict[str, Any]:
        """The fields of a class of records that it has as well, by name, to be handed on."""
        own = names(type(self))
        return {name: getattr(self, name) for name in names(kind) if name in own}

    def wide(self) -> Self:
        """The same problem, its required arrays of float64 in NumPy's widest float."""
        asked = {f.name: getattr(self, f.name) for f in fields(self) if f.default is MISSING}
        floats = {n: x for n, x in asked.items() if getattr(x, "dtype", None) == np.float64}
        return self.but(**{n: x.astype(np.longdouble) for n, x in floats.items()})

    def in_reference(self) -> Self:
        """The problem as its reference is evaluated: `wide` if it is of float64."""
        return self.wide() if self.dtype == "float64" else self

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the axes of its arrays, each once."""
        return tuple(dict.fromkeys("".join(self.axes.values()).replace(" ", "")))

    def having(self, letter: str) -> dict[str, int]:
        """The arrays that have this axis, and its index, counted from the right.

        An axis of length 1 that is broadcast does not count.
        """
        found = {}
        for name, letters in self.axes.items():
            x, words = getattr(self, name), letters.split()
            axis = words.index(letter) - len(words) if letter in words else 0
            if axis and x is not None and x.ndim >= -axis:
                found[name] = (axis, x.shape[axis])
        _, length = next(iter(found.values()), (0, 0))
        return {name: axis for name, (axis, size) in found.items() if not size == 1 != length}

    def length(self, letter: str) -> int:
        """How many positions an axis has; 0 where no array has the axis."""
        lengths = (getattr(self, name).shape[axis] for name, axis in self.having(letter).items())
        return next(lengths, 0)

    def part(self, letter: str, index: Index) -> Self:
        """Only the positions `index` along an axis, in that order, in all arrays that have it."""
        changes = {
            name: getattr(self, name)[(Ellipsis, index, *(slice(None),) * (-axis - 1))]
            for name, axis in self.having(letter).items()
        }
        return self.but(**changes)

    def chance(self) -> Stream:
        """A stream of random numbers that depends on `seed` alone."""
        return Stream(self.seed)


@dataclass(frozen=True)
class Call:
    """One call of an implementation, as its caller sees it."""

    out: Array
    dtype: str
    changed: tuple[str, ...] = ()  # inputs whose content the call changed
    aliased: tuple[str, ...] = ()  # inputs whose memory the output shares
    reused: bool = False  # a second call returned the memory of the first


def __getattr__(name: str) -> Any:
    """`Problem` and `Gradients`, for printed scripts that import them from here."""
    if name in ("Problem", "Gradients"):
        return getattr(import_module(f"{__package__}.attention.notation"), name)
    raise AttributeError(f"module 'spec.notation' has no attribute {name!r}")
