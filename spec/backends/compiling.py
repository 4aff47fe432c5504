"""A program as the compiler of its library runs it, where a person asks for that.

A library says which ways it has (`Library.compilers`), and what a function or a class becomes by
each. What is given to a call beside arrays settles which program it is:

    static    jax.jit with all that is no array static; torch.compile(dynamic=False)
    traced    jax.jit with floating-point numbers, as a scale is one, traced like arrays
    dynamic   torch.compile(dynamic=True)

Whole numbers and truth values are never traced: they are sizes and switches, on which Python
decides, so that a function that branches on one would be refused whatever it is about.
"""

import functools
from collections.abc import Callable
from typing import Any

from spec.backends.library import Library, Unsuitable, name_of

WAYS = ("static", "traced", "dynamic")


class Compiled:
    """A program, compiled, under its own name and signature, and so are the functions it carries.

    compiler: what makes a function a compiled one.
    """

    def __init__(self, program: Any, compiler: Callable[[Any], Callable[..., Any]]) -> None:
        functools.update_wrapper(self, program, updated=())
        self.__name__ = name_of(program)
        self._program, self._compiler, self._run = program, compiler, compiler(program)

    def __call__(self, *places: Any, **words: Any) -> Any:
        """What the compiled program returns."""
        return self._run(*places, **words)

    def __getattr__(self, name: str) -> Any:
        """What the program carries: of a function the same one each time."""
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._program, name)
        if not callable(found) or isinstance(found, type):
            return found
        setattr(self, name, Compiled(found, self._compiler))
        return getattr(self, name)


def compiled(program: Any, library: Library, way: str) -> Any:
    """A function or a class of `library` as it runs compiled in one of the `WAYS`.

    Raises Unsuitable: a way that the library has not, or what it does not compile.
    """
    if way not in library.compilers:
        ways = " or ".join(library.compilers) or "nothing"
        raise Unsuitable(f"--compiled {way}: {library.title} compiles {ways}")
    compiler = library.compilers[way]
    return compiler(program) if isinstance(program, type) else Compiled(program, compiler)
