"""Expressions of a description: how a layer is built, and what else a call gets.

An expression is a function of the sizes that it names. It may use the names of the layer's module.
"""

import ast
import builtins
import inspect
import symtable
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from spec.backends.library import Elsewhere, Unsuitable
from spec.boundary.far import asked, home_of
from spec.runner import find as here

OF_A_MAKER = ("A", "H", "G", "D", "bias")
SIZES = {
    "A": "model width",
    "H": "heads",
    "G": "key heads",
    "D": "head width",
    "B": "batch",
    "N": "queries",
    "M": "keys",
    "bias": "whether there are biases",
    "x": "the first input",
}
OF_A_CALL = ("B", "N", "M", "A", "H", "D", "x")
Function = Callable[..., Any]


@dataclass(frozen=True)
class Expression:
    """An expression as a function. names: those that it takes from the module of the layer."""

    text: str
    names: tuple[str, ...]
    function: Function

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @property
    def line(self) -> str:
        """Its text in one line, without comments."""
        return ast.unparse(self._tree)

    @property
    def is_call(self) -> bool:
        """Whether it is one call, so that a method of its value can stand behind it."""
        return isinstance(self._tree, ast.Call)

    @property
    def _tree(self) -> ast.expr:
        return ast.parse(self.text, mode="eval").body

    def __call__(self, **known: Any) -> Any:
        """Its value, of the sizes that it names."""
        return self.function(**known)

    @classmethod
    def of(cls, place: str, text: str, known: tuple[str, ...], space: dict[str, Any]) -> Self:
        """An expression of some of `known`, with the names in `space`.

        Raises Unsuitable: no expression, or a name that neither of them has.
        """
        try:
            used = _free(symtable.symtable(text, place, "eval"))
        except SyntaxError as error:
            raise Unsuitable(f"{place} is no expression: {error.msg}") from None
        for name in sorted(used):
            if name not in known and name not in space and not hasattr(builtins, name):
                listed = ", ".join(f"{x} ({SIZES[x]})" if x in SIZES else x for x in known)
                raise Unsuitable(f"{place}: {name!r} is not defined; it may use {listed}")
        sizes = [name for name in known if name in used]
        if isinstance(space, Space):
            function: Function = space.function(sizes, text)
        else:
            function = eval(f"lambda {', '.join(sizes)}: {text}", space)  # the user's own words
        return cls(text, tuple(sorted(used & space.keys() - {*known})), function)


def taken(function: Function, known: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a function among all that is known."""
    return {name: known[name] for name in inspect.signature(function).parameters if name in known}


def maker(text: str, target: Any) -> Expression | None:
    """The expression that builds a layer, with the names of its module; None for no text."""
    return Expression.of("make", text, OF_A_MAKER, names_of(target)) if text else None


def is_told(function: Function | None, name: str) -> bool:
    """Whether a maker has a parameter `name`."""
    return function is not None and name in inspect.signature(function).parameters


def _free(table: symtable.SymbolTable) -> set[str]:
    """The names that an expression, and the functions in it, take from their surroundings."""
    inner = (_free(child) for child in table.get_children())
    return {x.get_name() for x in table.get_symbols() if x.is_global()}.union(*inner)


def names_of(target: Any) -> Any:
    """The names of the module that a class or a function stands in, its own among them."""
    return Space(target) if isinstance(target, Elsewhere) else here.names_of(target)


class Space(dict[str, Any]):
    """The names of the module of a target in a runner, where expressions are evaluated."""

    def __init__(self, target: Any) -> None:
        self.home = home_of(target)
        super().__init__(dict.fromkeys(self.home.names()))

    def function(self, sizes: Sequence[str], text: str) -> Function:
        """An expression as a function of sizes."""

        def value(**known: Any) -> Any:
            return asked(self.home, "evaluate", text=text, known=known)

        told = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in sizes]
        vars(value)["__signature__"] = inspect.Signature(told)
        return value
