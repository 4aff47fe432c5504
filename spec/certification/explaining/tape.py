"""A record of the calls of a program: a function, its functions, and objects that it makes.

An object that a call returns is recorded too, and calls of its methods belong to the call that made
it. Calls that a program makes of itself are not recorded.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

from spec.backends import sources
from spec.backends.library import FOLLOWING, Ask
from spec.boundary.far import Thing
from spec.certification.explaining.arguments import each, exchanged
from spec.certification.explaining.called import SETS, Called, index_of
from spec.certification.explaining.distant import noting, watching
from spec.certification.explaining.kept import differ, duplicate, is_mutable, is_object

EMPTY = inspect.Parameter.empty
CALLED = "__call__"


class Tape:
    """The calls of a program, in order.

    instead: a result to return in place of one. undoing: whether changed arguments are restored,
    and results are copied.
    """

    def __init__(self, place: int | None = None, instead: Any = None, undoing: bool = False):
        self.calls: list[Called] = []
        self.since: int | None = None  # the first call without which others may be right, if any
        self._place, self._instead, self._undoing = place, instead, undoing
        self._made: dict[int, tuple[int, Any]] = {}  # by whom; kept, so that no other has its id
        self._chance: dict[int, tuple[Any, Any]] = {}  # generators, and as they were at first
        self._inside = False
        self._last: Mapping[str, tuple[Any, Any]] = {}  # what a call was given, and left of it
        self._leaves: list[tuple[Any, Any]] = []  # by which a call is differentiated, and as given

    def __enter__(self) -> None:
        """Record calls from here on."""
        self._before = FOLLOWING.set(self._differentiated)

    def __exit__(self, *raised: object) -> None:
        """Restore the classes of objects, which others may share."""
        FOLLOWING.reset(self._before)
        for _, made in self._made.values():
            made.__class__ = type(made).__bases__[0]

    def of(self, program: Any, name: str = "") -> Any:
        """The program, with a record of its calls. Raises ValueError if it has no signature."""
        if isinstance(program, Thing):
            return noting(program, partial(self._note, None))
        signature = inspect.signature(program)
        if isinstance(program, type):
            return self._making(program, signature)

        @functools.wraps(program)
        def seen(*places: Any, **words: Any) -> Any:
            return self._noted(name, None, signature, program, places, words)

        for other, x in vars(program).items():
            if callable(x) and not isinstance(x, type) and not other.startswith("_"):
                setattr(seen, other, self.of(x, f"{name}.{other}"))
        return seen

    def leading(self, last: int) -> Iterator[list[int]]:
        """Yield the positions of the calls that lead to one, which is the last of them.

        First those of its object, and of those it was made from; then all constructors; then all
        calls. If results depend on earlier calls, all since then.
        """
        if self.since is not None:
            yield [*range(self.since, last + 1)]
            return
        found, place = {last}, last
        while (maker := self.calls[place].whose) is not None:
            found |= {i for i in range(place) if i == maker or self.calls[i].whose == maker}
            place = maker
        yield sorted(found)
        if place != last:
            family = {place}
            family |= {i for i in range(place, last + 1) if self._root(i) == place}
            yield sorted(family)
        yield [*range(last + 1)]

    def joined(self, same: Callable[[Any, Any], bool]) -> None:
        """Share equal arguments of the same name between calls."""
        known: dict[str, list[Any]] = {}
        for place, call in enumerate(self.calls):
            given = dict(call.given) if not call.spoiled else {}
            for name, x in given.items():
                each = known.setdefault(name, [])
                given[name] = next((y for y in each if same(x, y)), x)
                each += [] if given[name] is not x else [x]
            self.calls[place] = replace(call, given={**call.given, **given})

    def _root(self, place: int) -> int:
        maker = self.calls[place].whose
        return place if maker is None else self._root(maker)

    def _noted(
        self,
        name: str,
        whose: int | None,
        signature: inspect.Signature,
        called: Callable[..., Any],
        places: tuple[Any, ...],
        words: Mapping[str, Any],
    ) -> Any:
        if self._inside:
            return called(*places, **words)
        arguments, known = signature.bind(*places, **words).arguments, signature.parameters
        by, arguments = self._without_leaves(signature, arguments)
        by_name = frozenset(x for x in words if x in known and known[x].default is not EMPTY)
        self._spoil()
        given, seed = self._copied(arguments), sources.taken()
        call = Called(name, whose, signature, given, None, seed, by_name, by=by)
        self._inside = True
        try:
            answer = self._asked(call, lambda: called(*places, **words))
        except Exception as error:
            self.calls.append(replace(call, answer=error))
            raise
        finally:
            self._inside = False
        answer = self._instead if self._place == len(self.calls) else answer
        copies = self._undoing and not is_object(answer) and not self._leaves
        answer = deepcopy(answer) if copies else answer
        self.calls.append(replace(call, answer=answer))
        arrays = {name: x for name, x in arguments.items() if is_mutable(x)}
        for name in arrays if self._undoing else ():
            arrays[name][...] = given[name]
        self._last = {name: (x, deepcopy(x)) for name, x in arrays.items()}
        if is_object(answer) and id(answer) not in self._made:
            self._made[id(answer)] = len(self.calls) - 1, answer
            answer.__class__ = self._watched(type(answer))
        return answer

    def _differentiated(
        self, ask: Ask, function: Callable[..., Any], arrays: Any, dout: Any
    ) -> Any:
        """What a library makes of a function; if it makes one call, that is part of its record."""
        outs, since = list[Any](), len(self.calls)

        def seen(*leaves: Any) -> Any:
            self._leaves = [*zip(leaves, arrays, strict=True)]
            outs.append(function(*leaves))
            return outs[0]

        place, self._place = self._place, None
        try:
            answer = ask(seen)
        finally:
            self._place, self._leaves = place, []
        if len(self.calls) != since + 1 or len(self.calls[since].by) != len(arrays):
            return answer
        taken = index_of(outs[0], self.calls[since].answer)
        answer = self._instead if place == since else answer
        done = {"answer": answer, "dout": deepcopy(dout), "taken": taken}
        self.calls[since] = replace(self.calls[since], **done)
        return answer

    def _without_leaves(
        self, signature: inspect.Signature, arguments: dict[str, Any]
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The names of the arguments by which a call is differentiated, and all as they were."""
        named = {name: x for name, _, x in each(signature, arguments)}
        found = {n: y for leaf, y in self._leaves for n, x in named.items() if x is leaf}
        return (*found,), exchanged(signature, arguments, found) if found else arguments

    def _asked(self, call: Called, ask: Callable[[], Any]) -> Any:  # noqa: ARG002 - others need it
        """The result of a call. call: the record of it, without the result."""
        return ask()

    def _spoil(self) -> None:
        """Record the contents that were written into the last call's arguments."""
        found = {name: deepcopy(x) for name, (x, left) in self._last.items() if differ(x, left)}
        if found:
            self.calls[-1] = replace(self.calls[-1], spoiled=found)

    def _copied(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Copies of arguments; a generator as it was when it was new."""
        for x in filter(sources.is_generator, arguments.values()):
            self._chance.setdefault(id(x), (x, deepcopy(x)))
        first = {name: copy for name, (_, copy) in self._chance.items()}
        return duplicate(arguments, first)

    def _making(self, program: type, signature: inspect.Signature) -> type:
        """A subclass whose constructor calls are recorded."""
        tape = self

        class Making(type(program)):  # type: ignore[misc]
            def __call__(cls, *places: Any, **words: Any) -> Any:
                return tape._noted("", None, signature, program, places, words)

        told = {"__module__": program.__module__, "__signature__": signature}
        return Making(program.__name__, (program,), told)

    def _watched(self, kind: type) -> type:
        """A subclass whose public methods, and calls of objects, are recorded."""
        if issubclass(kind, Thing):
            return type(kind.__name__, (kind,), watching(kind, self._note))
        names = (x for x in dir(kind) if x == CALLED or not x.startswith("_"))
        names = (x for x in names if inspect.isfunction(_of(kind, x)))
        methods = {name: self._method(name, _of(kind, name)) for name in names}
        methods[SETS] = self._setting(kind)
        return type(kind.__name__, (kind,), {**methods, "__module__": kind.__module__})

    def _setting(self, kind: type) -> Callable[..., Any]:
        def setting(owner: Any, name: str, value: Any, /) -> None:
            getattr(kind, SETS)(owner, name, value)

        noted = self._method(SETS, setting)

        def seen(owner: Any, name: str, value: Any) -> None:
            (setting if name.startswith("__") else noted)(owner, name, value)

        return seen

    def _method(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def seen(owner: Any, *places: Any, **words: Any) -> Any:
            method = functools.partial(function, owner)
            called = "" if name == CALLED else f".{name}"
            return self._note(owner, method, called)(*places, **words)

        return seen

    def _note(self, owner: Any, called: Callable[..., Any], name: str) -> Callable[..., Any]:
        """A function, or a method of an object that some call made, with a record of its calls."""

        def seen(*places: Any, **words: Any) -> Any:
            if owner is not None and id(owner) not in self._made:
                return called(*places, **words)
            whose = None if owner is None else self._made[id(owner)][0]
            return self._noted(name, whose, inspect.signature(called), called, places, words)

        return seen


def _of(kind: type, name: str) -> Any:
    return inspect.getattr_static(kind, name)
