"""A call of a program that was recorded: its arguments, its result, and how to make it again."""

import functools
import inspect
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from spec.backends.library import Library
from spec.certification.explaining.arguments import each, exchanged
from spec.certification.explaining.kept import duplicate

SETS = "__setattr__"  # an attribute that is set from outside is written down as a call


@dataclass(frozen=True)
class Called:
    """A call: an attribute, "" for the program itself, the arguments, and the result.

    whose: the position of the call that made the object whose method it is, if any. seed: of the
    library's own random numbers, if they were started just before. A generator that several calls
    get is one object in all of them. words: arguments that were given by name and are optional.
    spoiled: the contents that the caller later wrote into its arrays, by name. by: the arguments by
    which the call is differentiated: then the result is a gradient for each or, if there is no
    cotangent `dout`, that of a call in training. taken: the index of what is differentiated in the
    result of the call; None for all of it.
    """

    name: str
    whose: int | None
    signature: inspect.Signature
    given: Mapping[str, Any]
    answer: Any
    seed: int | None = None
    words: frozenset[str] = frozenset()
    spoiled: Mapping[str, Any] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    dout: Any = None
    taken: Any = None

    def of(
        self, owner: Any, known: dict[int, Any], library: Library
    ) -> tuple[Any, Mapping[str, Any]]:
        """The result of the same call of a program or an object, and its arguments afterwards.

        known: copies of earlier arguments, by identity, as in `deepcopy`.
        """
        given = duplicate(self.given, known)
        if not self.by:
            return self._made(owner, given), given

        def run(*leaves: Any) -> Any:
            others = dict(zip(self.by, leaves, strict=True))
            out = self._made(owner, exchanged(self.signature, given, others))
            return out if self.taken is None else out[self.taken]

        named = {name: x for name, _, x in each(self.signature, given)}
        arrays = [named[name] for name in self.by]
        if self.dout is None:
            return library.training(run, arrays), given
        return library.gradients(run, arrays, deepcopy(self.dout)), given

    def _made(self, owner: Any, arguments: dict[str, Any]) -> Any:
        given = inspect.BoundArguments(self.signature, arguments)
        called = functools.reduce(getattr, self.name.split(".")[1:], owner)
        named = {x: arguments[x] for x in self.words if x in arguments}
        places = given.args[: len(given.args) - len(named.keys() - given.kwargs.keys())]
        return called(*places, **{**given.kwargs, **named})


def index_of(out: Any, answer: Any) -> Any:
    """The index that gives a part of a result, or its first parts; None for all of it.

    Raises ValueError if none does.
    """
    if out is answer:
        return None
    if isinstance(answer, tuple | list):
        if isinstance(out, tuple) and all(x is y for x, y in zip(out, answer, strict=False)):
            return slice(len(out))
        return next(place for place, x in enumerate(answer) if x is out)
    raise ValueError("what is differentiated is no part of a result")


def tidied(calls: Sequence[Called], library: Library) -> list[Called]:
    """Calls of arrays that are contiguous in the place of others; empty if there are no others."""
    found, seen = list[Called](), dict[int, Any]()
    for call in calls:
        arguments = {name: x for name, _, x in each(call.signature, call.given)}
        loose = {name: x for name, x in arguments.items() if library.laid(x) is not None}
        for x in loose.values():
            seen.setdefault(id(x), library.tidied(x))
        others = {name: seen[id(x)] for name, x in loose.items()}
        found.append(replace(call, given=exchanged(call.signature, call.given, others)))
    return found if seen else []
