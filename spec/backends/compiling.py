"""A program as the compiler of its library runs it, where a person asks for that.

A library says which ways it has (`Library.compilers`), and what a function or a class becomes by
each. The arguments of a call other than arrays decide which program runs:

    static    jax.jit with all that is no array static; torch.compile(dynamic=False)
    traced    jax.jit with floating-point numbers, as a scale is one, traced like arrays
    dynamic   torch.compile(dynamic=True)

Whole numbers and truth values are never traced: they are sizes and switches, on which Python
decides, so that a function that branches on one would be refused whatever it is about.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from spec.backends.library import Library, Unsuitable, name_of
from spec.runner.compiled import TRACED

WAYS = ("static", "traced", "dynamic")


class Compiled:
    """A program, compiled, under its own name and signature.

    compiler: what makes a function a compiled one.
    """

    def __init__(self, program: Any, compiler: Callable[[Any], Callable[..., Any]]) -> None:
        functools.update_wrapper(self, program, updated=())
        self.__name__ = name_of(program)
        self._run = compiler(program)

    def __call__(self, *places: Any, **words: Any) -> Any:
        """What the compiled program returns."""
        return self._run(*places, **words)


def compiled(program: Any, library: Library, way: str) -> Any:
    """A function or a class of `library` as it runs compiled in one of the `WAYS`.

    The attributes of a function are compiled as well: its log-sum-exp is a function of its own.

    Raises Unsuitable: a way that the library has not, or what it does not compile.
    """
    if way not in library.compilers:
        ways = " or ".join(library.compilers) or "nothing"
        raise Unsuitable(f"--compiled {way}: {library.title} compiles {ways}")
    compiler = library.compilers[way]
    if isinstance(program, type):
        return compiler(program)
    found = Compiled(program, compiler)
    for name in (x for x in dir(program) if not x.startswith("_")):
        x = getattr(program, name)
        is_function = callable(x) and not isinstance(x, type)
        setattr(found, name, Compiled(x, compiler) if is_function else x)
    return found


def as_source(library: str, way: str, name: str, options: Mapping[Any, Any]) -> str:
    """A function as source text, as its library's compiler runs it; way "": as it is written.

    options: what a call of it is given that is no array, by place or by name.
    """
    if not way:
        return name
    if library == "torch":
        return f"torch.compile({name}, dynamic={way == 'dynamic'})"
    static = [x for x, option in options.items() if not isinstance(option, TRACED[way])]
    places = tuple(x for x in static if isinstance(x, int))
    names = tuple(x for x in static if isinstance(x, str))
    said = {"static_argnums": places, "static_argnames": names}
    return f"jax.jit({', '.join([name, *(f'{n}={x}' for n, x in said.items() if x)])})"
