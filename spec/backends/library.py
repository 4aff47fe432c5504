"""The requirements of the specification on an array library, as a record of plain functions."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from spec.backends.memory import Laid, laid_out
from spec.notation import Array, Memory
from spec.printable import printable
from spec.runner.chance import Chance
from spec.runner.parameters import name_of as name_of

Ask = Callable[[Callable[..., Any]], Any]  # of a function; what its library makes of calling it
# A follower of functions that are differentiated. It gets the way to do so, the function, its
# arrays and the cotangent, which is None where the function is only called as training calls it.
FOLLOWING: ContextVar[Callable[[Ask, Callable[..., Any], Sequence[Any], Any], Any] | None] = (
    ContextVar("FOLLOWING", default=None)
)
WARNINGS: ContextVar[Literal["ignore", "default"]] = ContextVar("WARNINGS", default="ignore")


@dataclass(frozen=True)
class Library:
    """An array library on one device.

    put: a buffer and the view of it, in a dtype -> the library's buffer and view; truth values and
        integers keep theirs.
    integers: whole numbers -> an array of 64-bit integers. format: its own name of a dtype.
    get: an array of the library -> float64, in memory of its own.
    dtype_of: the name of an array's dtype; None for what is no array of the library. Nor is one of
        a subclass, which may answer each question about itself in another way.
    array: the type of its arrays, if it has a single one.
    device_of: where an array lives, in words to compare with `device`.
    running: the context in which calls are made for a dtype.
    differentiate: function, arrays, cotangent -> a gradient for each array; None
        where the library has no gradients of its own. Of several results, a tuple of cotangents.
    recorded: function, arrays -> what the function returns while gradients are recorded; None
        where there are none.
    copied, same, overlap: whether a buffer was written to, or is shared.
    laid: how an array lies in memory; None if it has memory of its own, in order, or is no array.
    chance: its own source of random numbers, and its generators (`sources`).
    compilers: by way (`compiling`), what makes a function, or a class, a compiled one.
    whose: the target, if it has fewer dtypes than the library.
    """

    name: str
    device: str
    dtypes: tuple[str, ...]
    put: Callable[[Laid, str], tuple[Any, Any]]
    integers: Callable[[Array], Any]
    format: Callable[[str], Any]
    get: Callable[[Any], Array]
    dtype_of: Callable[[Any], str | None]
    device_of: Callable[[Any], str]
    running: Callable[[str], AbstractContextManager[Any]]
    differentiate: Callable[[Callable[..., Any], Sequence[Any], Any], Sequence[Any]] | None
    recorded: Callable[[Callable[..., Any], Sequence[Any]], Any] | None
    copied: Callable[[Any], Any]
    same: Callable[[Any, Any], bool]
    overlap: Callable[[Any, Any], bool]
    laid: Callable[[Any], Laid | None] = lambda _: None
    compilers: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    array: type | None = None
    chance: Any = field(default_factory=Chance)
    whose: str = ""

    @property
    def title(self) -> str:
        """Its name as it writes it itself."""
        return {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX"}.get(self.name, self.name)

    @contextmanager
    def quiet(self, dtype: str) -> Iterator[None]:
        """The context of a call for a dtype; warnings are for who keeps what a target prints."""
        with warnings.catch_warnings(), self.running(dtype):
            warnings.simplefilter(WARNINGS.get())
            yield

    def placed(self, x: Array, dtype: str, memory: Memory = "contiguous") -> tuple[Any, Any]:
        """The numbers of x in the library: the buffer that holds them, and the view of it."""
        return self.put(laid_out(x, memory), dtype)

    def alike(self, x: Any, y: Any) -> bool:
        """Whether two things are arrays of the same numbers in the same format."""
        if self.dtype_of(x) is None or self.dtype_of(x) != self.dtype_of(y):
            return False
        a, b = self.get(x), self.get(y)
        return a.shape == b.shape and a.tobytes() == b.tobytes()

    def tidied(self, x: Any) -> Any:
        """A copy of an array in memory of its own, in order."""
        dtype = self.dtype_of(x) or ""
        whole = dtype == "bool" or dtype.startswith("int")
        return self.placed(self.get(x).astype(dtype if whole else float), dtype)[1]

    def gradients(
        self, function: Callable[..., Any], arrays: Sequence[Any], dout: Any
    ) -> Sequence[Any]:
        """The result of `differentiate`, for a library that differentiates."""
        ask = self.differentiate
        assert ask is not None
        return _followed(lambda f: ask(f, arrays, dout), function, arrays, dout)

    def training(self, function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
        """The result of `recorded`, for a library that differentiates."""
        ask = self.recorded
        assert ask is not None
        return _followed(lambda f: ask(f, arrays), function, arrays, None)


def _followed(ask: Ask, function: Callable[..., Any], arrays: Sequence[Any], dout: Any) -> Any:
    follow = FOLLOWING.get()
    return ask(function) if follow is None else follow(ask, function, arrays, dout)


class Elsewhere:
    """A target that is not in this process, and its arrays neither.

    libraries: the array libraries that it may be written for, the likeliest first. bound: the
    parameters that a partial function has a value for, by name. traits: of a class: "called" if its
    objects can be, "autograd" if it is a function of autograd. bases: the classes that a class
    inherits from, as `module:name`. target: as a person named it; "" for what was got from there.
    """

    target: str = ""

    libraries: tuple[str, ...] = ()
    bound: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()

    def library(self, name: str, device: str) -> Library:
        """The array library `name` on `device`, where the target is. Raises Unsuitable."""
        raise NotImplementedError

    @property
    def call(self) -> Any:
        """The method of a class that a call of its objects is. Raises AttributeError: no class."""
        raise AttributeError("call")


INDENT = "\n    "  # before each line of a file that an error proposes


def description_file(name: str) -> str:
    """The file that a person is advised to write for a class of this name: `mylayer.toml`."""
    return f"{name.rpartition('.')[2].lower()}.toml"


class Unsuitable(Exception):
    """A target that cannot be judged as it stands; the message is one line that says why.

    Lines of a file to write may follow, each indented by `INDENT`.
    """

    def __init__(self, why: str) -> None:
        super().__init__(INDENT.join(map(printable, why.split(INDENT))))


# What to do about an exception whose own text does not say it, by the name of its type.
FIXES = {"TracerBoolConversionError": "name this argument in the static_argnames of jax.jit"}


def first_line(error: BaseException) -> str:
    """The first line of what an exception says, and what to do about it, if that is known."""
    line = (str(error).splitlines() or [""])[0]
    fix = FIXES.get(type(error).__name__, "")
    return f"{fix} ({line})" if fix else line
