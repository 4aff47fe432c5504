"""What a caller may say beside q, k and v, as a record: `spec.attention.options` has the rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spec.attention.notation import Problem, Window
from spec.notation import HALF
from spec.subject import Refused


@dataclass(frozen=True, eq=False)
class Parameter:
    """What a caller may say beside q, k and v.

    name: of the attribute of a Problem. noun: in words. spellings: what functions call it,
    first the widely used one. neutral: what says nothing. plainer: values that are easier to
    read than others, the plainest first. told: whether the arrays tell as much, so that a
    function need not be told. put: a value for a function, whose own default is known; own: the
    same of a problem, by the spellings that mean something else. added: what it is called where
    it is numbers, by who has another name for truth values or takes none. single: an array that
    has float32 where others have 16 bits. whole: one of integers, of 32 bits whatever the format
    is. mate: the name of a parameter of which the same is said: who gives either asks for both.
    """

    name: str
    noun: str
    spellings: tuple[str, ...]
    neutral: Any = None
    plainer: tuple[Any, ...] = ()
    told: bool = False
    put: Callable[[Any, Any], Any] = lambda value, _: value
    own: Mapping[str, Callable[[Any, Problem], Any]] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    single: bool = False
    whole: bool = False
    mate: str = ""

    @property
    def axes(self) -> str:
        """Of an array: one may have length 1 and stand for all, leading ones may be left out."""
        return Problem.axes.get(self.name, "")

    def dtype(self, problem: Problem) -> str:
        """The format of an array."""
        if self.whole:
            return "int32"
        return "float32" if self.single and problem.dtype in HALF else problem.dtype

    def value(self, problem: Problem) -> Any:
        """What `problem` says; the neutral value where it says nothing."""
        return getattr(problem, self.name)

    def asked(self, problem: Problem) -> bool:
        """Whether `problem` says anything, by this parameter or by its mate."""
        value = self.value(problem)
        if self.mate and value is None:
            value = getattr(problem, self.mate)
        return value is not None if self.neutral is None else bool(value != self.neutral)

    def given(self, problem: Problem) -> bool:
        """Whether there is a value to hand over, which of two mates one may lack."""
        return self.value(problem) is not None if self.mate else self.asked(problem)

    def handed(self, value: Any, problem: Problem, name: str, default: Any) -> Any:
        """A value as a function has it that calls it by this name. Raises Refused: it cannot."""
        own = self.own.get(name)
        return self.put(value, default) if own is None else own(value, problem)

    def less(self, problem: Problem) -> Iterator[Problem]:
        """The same problem with nothing said, and with plainer values than its own."""
        if self.told or not self.asked(problem):
            return
        yield problem.but(**dict.fromkeys(filter(None, (self.name, self.mate)), self.neutral))
        for value in self.plainer:
            if self.value(problem) == value:
                return
            yield problem.but(**{self.name: value})


@dataclass(frozen=True)
class Option:
    """A kind of problem that may be refused.

    capability: in words. holds: whether a problem is of this kind. small: what is other than
    usual, sizes or attributes, in small problems of this kind, and of no other where that can be
    (the usual ones have B = 2, H = G = 3, N = M = 4, D = E = 2). parameters: what asks for it.
    """

    capability: str
    holds: Callable[[Problem], bool]
    small: tuple[Mapping[str, Any], ...]
    parameters: tuple[Parameter, ...] = ()


def mates(
    noun: str,
    queries: tuple[str, ...],
    keys: tuple[str, ...],
    *others: Mapping[str, Callable[[Any, Problem], Any]],
) -> tuple[Parameter, Parameter]:
    """Two parameters of integers, of queries and of keys, by how functions call them.

    others: how else they are told of either, and what they are told then.
    """
    (one, *_), (other, *_), (mine, theirs) = queries, keys, others or ({}, {})
    return (
        Parameter(one, noun, (*queries, *mine), whole=True, mate=other, own=mine),
        Parameter(other, noun, (*keys, *theirs), whole=True, mate=one, own=theirs),
    )


def bounded(window: Window, default: Any) -> Window:
    """A window for a function; where its default is (-1, -1), no bound is -1 (flash-attn)."""
    left, right = (-1 if bound is None and default == (-1, -1) else bound for bound in window)
    return left, right


def or_zero(cap: float | None, default: Any) -> float | None:
    """A cap for a function; where its default is 0, no cap is 0 (flash-attn)."""
    return 0.0 if cap is None and default == 0 else cap


def beside(window: Window, problem: Problem) -> tuple[int, ...]:
    """A window for who knows no bound that is none: one is beyond the text (JAX)."""
    far = problem.N + problem.M
    return tuple(far if x is None else x for x in window)


def with_itself(window: Window, problem: Problem) -> int:
    """A window for who counts keys, the query's own among them (configurations of models).

    Raises Refused: it has another bound than that to the left.
    """
    left, right = window
    if left is None or not (right == 0 or problem.causal):
        raise Refused("a number of keys up to a query's own says nothing of those ahead")
    return left + 1


# Names of a window, each in units of its own.
UNITS = {"local_window_size": beside, "sliding_window": with_itself}
