"""The functions that a call of a target reaches, found by identity and not by names.

A thin wrapper that cannot change a result is looked through: another name, a `functools.partial`, a
class that overrides nothing but its constructor. A function that calls another one may do anything
else as well, and is not that function; but the calls it makes can be listened to.
"""

import functools
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any


def is_nothing_but(found: Any, known: Any) -> bool:
    """Whether to call `found` is to call `known`."""
    while type(found) is functools.partial:
        found = found.func
    if found is known:
        return known is not None
    if not (inspect.isclass(found) and type(found) is type(known) and known in found.__mro__):
        return False  # or its metaclass is one of its own, which makes what it likes
    added = found.__mro__[: found.__mro__.index(known)]
    return not any(_overrides(x, known, n) for cls in added for n, x in vars(cls).items())


def _overrides(x: Any, known: type, name: str) -> bool:
    """Whether an entry of a class replaces a method that it inherits."""
    acts = callable(x) or hasattr(type(x), "__get__")
    return acts and name != "__init__" and hasattr(known, name)


class Listener:
    """Records which functions are called, from Python, while it runs something."""

    def __init__(self, run: Callable[[], Any]) -> None:
        self.seen: dict[int, Any] = {}  # by id, as what is called need not be hashable
        before = sys.getprofile()
        sys.setprofile(self._note)
        try:
            run()
        finally:
            sys.setprofile(before)

    def heard(self, known: Any) -> bool:
        """Whether the function, or a layer of the class, was called."""
        code = _code(known.forward if hasattr(known, "forward") else known)
        return known is not None and id(code or known) in self.seen

    def _note(self, frame: FrameType, event: str, called: Any) -> None:
        if event == "call":
            self.seen[id(frame.f_code)] = frame.f_code
        elif event == "c_call":
            self.seen[id(called)] = called


def _code(function: Any) -> CodeType | None:
    found = getattr(function, "__code__", None)
    return found if isinstance(found, CodeType) else None
