"""The result of a call: checked before its numbers are used.

First of all it has to be an array of the library, of the right shape, dtype and device. An
exception that a call raises becomes `Refused`; whether it may refuse is decided elsewhere. After
some errors a GPU fails in every later call: such an error ends the process.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from spec.backends.library import Library, first_line
from spec.comparison import Place, Violation, in_digits
from spec.notation import Array, Call
from spec.runner.errors import lost
from spec.subject import DeviceLost, Over, Raised, Refused


class WrongArray(Violation):
    """A result that is no array of the library, or one of the wrong shape: got and want."""

    def __init__(
        self, message: str, got: tuple[int, ...] | None = None, want: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message)
        self.got, self.want = got, want


class WrongDtype(Violation):
    """A result that is an array of the right shape in another dtype."""

    def __init__(self, message: str, got: str = "", want: str = "") -> None:
        super().__init__(message)
        self.got, self.want = got, want


class Miswritten(Violation):
    """An array of the caller that holds something else after a call than it should."""

    def __init__(self, what: str, got: Array, want: Array) -> None:
        index = tuple(map(int, np.argwhere(~same(got, want))[0]))
        place = Place(index, float(got[index]), float(want[index]), 0.0)
        there = "got {}, want {}".format(*in_digits(place.got, place.want, fewest=6))
        told = f"{what} is written wrongly at {index}: {there}"
        super().__init__(told, place, (got, want, np.zeros_like(got)))


def same(got: Array, want: Array) -> Array:
    """Which numbers are equal; NaN equals NaN."""
    return np.asarray((got == want) | (np.isnan(got) & np.isnan(want)))


@contextmanager
def refusing(given: Callable[[], Mapping[str, str]] = dict) -> Iterator[None]:
    """Turn an exception of a call into `Refused`, with the first line of its message.

    given: the shapes of its arguments, to be named where nothing else was called. `SystemExit`
    is such an exception: a target does not end its judge. Raises DeviceLost.
    """
    try:
        yield
    except (Violation, Refused, Over):
        raise
    except (Exception, SystemExit) as error:
        if lost(error):
            raise DeviceLost(first_line(error)) from None
        kind = Refused if isinstance(error, NotImplementedError) else Raised
        refused = kind(f"{type(error).__name__}: {first_line(error)}")
        refused.given = given()
        raise refused from error


def check(
    library: Library,
    result: Any,
    shape: tuple[int, ...],
    dtype: str | None,
    what: str,
    placed: bool = True,
) -> None:
    """Raise Violation unless `result` is an array of this shape and dtype, on the device."""
    got = library.dtype_of(result)
    if got is None:
        raise WrongArray(f"{what} is {words(result)}, want {_wanted(library, result)}")
    if (found := tuple(result.shape)) != shape:
        raise WrongArray(f"{what} has the wrong shape: got {found}, want {shape}", found, shape)
    if dtype == "float64" and got == "float32":
        raise WrongDtype("float64 is computed in float32", got, dtype)
    if dtype is not None and got != dtype:
        raise WrongDtype(f"{what} has the wrong dtype: got {got}, want {dtype}", got, dtype)
    if placed and library.device_of(result) != library.device:
        where = library.device_of(result)
        raise Violation(f"{what} is on {where}, its inputs on {library.device}")


def numbers(library: Library, result: Any) -> Array:
    """The numbers of a result; those of float64 as long double, so a clause adds no error."""
    with refusing():
        found = library.get(result)
    return found.astype(np.longdouble) if library.dtype_of(result) == "float64" else found


def read(
    library: Library, result: Any, shape: tuple[int, ...], dtype: str | None, what: str
) -> Array:
    """The numbers of a result, once it is known to be what was wanted. Raises Violation."""
    check(library, result, shape, dtype, what)
    return numbers(library, result)


def watched(
    library: Library,
    buffers: Mapping[str, Any],
    call: Callable[[], Any],
    read: Callable[[Any], Array],
) -> Call:
    """A call as its caller sees it, made twice: the output, and what became of the inputs.

    buffers: those of the inputs, by their names. read: the numbers of an output.
    """
    before = {name: library.copied(x) for name, x in buffers.items()}

    def changed() -> list[str]:
        return [name for name, x in buffers.items() if not library.same(x, before[name])]

    result, once = call(), changed()
    again, twice = call(), changed()  # what was negated twice is as it was
    return Call(
        out=read(result),
        dtype=library.dtype_of(result) or "",
        changed=tuple(dict.fromkeys((*once, *twice))),
        aliased=tuple(n for n, x in buffers.items() if library.overlap(result, x)),
        reused=library.overlap(result, again),
    )


def _wanted(library: Library, x: Any) -> str:
    """What was wanted in the place of something; of a subclass, that it is one."""
    want, array = f"an array of {library.name}", library.array
    if array is None or not issubclass(type(x), array):
        return want
    return f"{array.__module__}.{array.__qualname__} itself and no subclass of it"


def words(x: Any) -> str:
    """The type of an object that is no array, in words."""
    if isinstance(x, tuple | list):
        return f"a {type(x).__name__} of {len(x)}"
    if x is None:
        return "None"
    kind = getattr(x, "_kind", "") or f"{type(x).__module__}.{type(x).__qualname__}"
    return f"of type {kind}"
