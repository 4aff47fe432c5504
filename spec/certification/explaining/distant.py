"""Calls of a target in a runner, noted as those of one here are: of it, and of what it makes.

The attributes of an object of a runner are those that it has there. So they are noted as they are
asked for, and not by a subclass that has them all.
"""

from collections.abc import Callable
from typing import Any

from spec.boundary.far import Far, Thing

Note = Callable[..., Any]  # of the arguments of a call, by place and by name; the result
KEPT = ("target", "path", "__qualname__", "__module__")


def noting(program: Any, note: Callable[[Any, str], Note], name: str = "") -> Any:
    """A function of a runner, whose calls and whose attributes' calls are noted.

    note: what a call of a function becomes, by the function and its name.
    """
    called = note(program, name)

    class Noting(Far):
        """It has the number of the other, and gives it back to nobody."""

        def __call__(self, *places: Any, **words: Any) -> Any:
            return called(*places, **words)

        def __getattr__(self, other: str) -> Any:
            found = getattr(program, other)
            return noting(found, note, f"{name}.{other}") if isinstance(found, Far) else found

        def __del__(self) -> None:
            pass

    found: Any = Noting.__new__(Noting)
    known = (x for x in vars(program) if x in KEPT or (x.startswith("_") and x != "_told"))
    vars(found).update({x: vars(program)[x] for x in known})
    return found


def watching(kind: type[Thing], note: Callable[[Any, Any, str], Note]) -> dict[str, Any]:
    """The methods of a subclass of the class of an object of a runner, which notes its calls.

    note: what a call becomes, by the object, the function, and its name.
    """

    def attribute(owner: Any, name: str) -> Any:
        found = kind.__getattr__(owner, name)
        if not isinstance(found, Far):
            return found
        vars(owner).pop(name, None)  # else it is found there from now on
        return noting(found, lambda x, inner: note(owner, x, f".{name}{inner}"))

    def call(owner: Any, *places: Any, **words: Any) -> Any:
        def itself(*places: Any, **words: Any) -> Any:
            return kind.__call__(owner, *places, **words)

        itself.__signature__ = owner.__signature__  # type: ignore[attr-defined]
        return note(owner, itself, "")(*places, **words)

    return {"__getattr__": attribute} | ({"__call__": call} if issubclass(kind, Far) else {})
