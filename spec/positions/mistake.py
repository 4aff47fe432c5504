"""What a mistake about positions is: a NumPy program with one step replaced.

    @wrong("place", incident="C03")
    def counts_from_one(first: int, length: int) -> Array:
        '''Numbers the tokens as people do, from one.'''
        return first + 1 + np.arange(length)

Each kind of subject has its right steps and its own `wrong`; the name then stands for an
ordinary function that can be loaded like anybody's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from spec.implementation import Subject


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong program.

    sentence: the temptation, in one line. incident: the class of real bugs that it
    belongs to. citation: where it was reported, if that was read. harmless: it is right
    after all, and must be certified. convention: it is right where this is declared.
    force: "should" where only a `should` clause can object.
    function: the program. load: makes the record of such a program.
    """

    name: str
    sentence: str
    incident: str
    function: Callable[..., Any]
    load: Callable[..., Any]
    citation: str = ""
    dtypes: tuple[str, ...] = ("float32",)
    harmless: bool = False
    convention: tuple[str, str] | None = None
    force: Literal["must", "should"] = "must"

    @cached_property
    def record(self) -> Subject:
        """The program as a subject to be judged."""
        record: Subject = self.load(self.function, name=self.name, backend="numpy")
        return record


def described(
    function: Callable[..., Any], source: Callable[..., Any], **facts: Any
) -> Callable[..., Any]:
    """The function under the name and docstring of `source`, its record attached as `mistake`."""
    function.__name__ = function.__qualname__ = source.__name__
    function.__doc__, function.__module__ = source.__doc__, source.__module__
    sentence = (source.__doc__ or "").splitlines()[0]
    record = Mistake(source.__name__, sentence, function=function, **facts)
    function.mistake = record  # type: ignore[attr-defined]
    return function
