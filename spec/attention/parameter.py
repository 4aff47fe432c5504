"""Records for arguments in addition to q, k and v; `spec.attention.options` has the rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec.attention.contents import Options, Window
from spec.attention.notation import Problem
from spec.notation import HALF, Array, once
from spec.subject import Refused


@dataclass(frozen=True, eq=False)
class Parameter:
    """An argument in addition to q, k and v.

    name: the attribute of a Problem. noun: its name in words. spellings: its names in functions,
    the most widely used one first. plainer: values that are easier to read than others, the
    plainest first. told: whether the shapes of the arrays give the value, so that a function need
    not take it. put: the value for a function, from the value here and the default of the function.
    own: by name, the same from the problem, for names that mean something else. added: names of an
    additive mask, in functions that have another name for a boolean mask or take none. single: an
    array that is float32 where others have 16 bits; so is one that the problem has in float32.
    whole: an array of 32-bit integers, whatever the format is. mate: the name of the other
    parameter of a pair (queries and keys); a problem that gives one of them uses both.
    """

    name: str
    noun: str
    spellings: tuple[str, ...]
    plainer: tuple[Any, ...] = ()
    told: bool = False
    put: Callable[[Any, Any], Any] = lambda value, _: value
    own: Mapping[str, Callable[[Any, Problem], Any]] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    single: bool = False
    whole: bool = False
    mate: str = ""

    @once
    def neutral(self) -> Any:
        """The value that means "not used", which is the default."""
        return False if self.told else getattr(Options, self.name)

    @property
    def axes(self) -> str:
        """The axes of an array: one of length 1 is broadcast, leading ones may be left out."""
        return Options.axes.get(self.name, "")

    def dtype(self, problem: Problem) -> str:
        """The dtype of an array."""
        if self.whole:
            return "int32"
        single = self.single or getattr(self.value(problem), "dtype", None) == np.float32
        return "float32" if single and problem.dtype in HALF else problem.dtype

    def value(self, problem: Problem) -> Any:
        """The value in `problem`; the neutral value if the problem does not use it."""
        return getattr(problem, self.name)

    def asked(self, problem: Problem) -> bool:
        """Whether `problem` uses this parameter or its mate."""
        value = self.value(problem)
        if self.mate and value is None:
            value = getattr(problem, self.mate)
        return value is not None if self.neutral is None else bool(value != self.neutral)

    def given(self, problem: Problem) -> bool:
        """Whether there is a value to pass; one of two mates may have none."""
        return self.value(problem) is not None if self.mate else self.asked(problem)

    def handed(self, value: Any, problem: Problem, name: str, default: Any) -> Any:
        """The value for a parameter of this name in a function. Raises Refused if there is none."""
        own = self.own.get(name)
        return self.put(value, default) if own is None else own(value, problem)

    def less(self, problem: Problem) -> Iterator[Problem]:
        """The same problem without this option, and then with plainer values."""
        if self.told or not self.asked(problem):
            return
        yield problem.but(**dict.fromkeys(filter(None, (self.name, self.mate)), self.neutral))
        for value in self.plainer:
            if self.value(problem) == value:
                return
            yield problem.but(**{self.name: value})


@dataclass(frozen=True)
class Option:
    """A kind of problem that a function may not support.

    capability: its name in words. holds: whether a problem is of this kind. small: sizes and
    attributes that make small problems of this kind, and of no other if possible; all else is as
    usual (B = 2, H = G = 3, N = M = 4, D = E = 2). parameters: those that such a problem uses.
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
    """Two integer parameters, for queries and for keys, from their names in functions.

    others: other names for each of them, and the values that functions get under these names.
    """
    (one, *_), (other, *_), (mine, theirs) = queries, keys, others or ({}, {})
    return (
        Parameter(one, noun, (*queries, *mine), whole=True, mate=other, own=mine),
        Parameter(other, noun, (*keys, *theirs), whole=True, mate=one, own=theirs),
    )


def bounded(window: Window, default: Any) -> Window:
    """A window for a function; if its default is (-1, -1), no bound is -1 (flash-attn)."""
    left, right = (-1 if bound is None and default == (-1, -1) else bound for bound in window)
    return left, right


def or_zero(cap: float | None, default: Any) -> float | None:
    """A soft-cap for a function; if its default is 0, no soft-cap is 0 (flash-attn)."""
    return 0.0 if cap is None and default == 0 else cap


def beside(window: Window, problem: Problem) -> tuple[int, ...]:
    """A window without a value for no bound: a bound beyond the sequence instead (JAX)."""
    far = problem.N + problem.M
    return tuple(far if x is None else x for x in window)


def with_itself(window: Window, problem: Problem) -> int:
    """A window as a number of keys, the key at the query position included (model configurations).

    Raises Refused if the window has no left bound, or includes keys ahead of the query.
    """
    left, right = window
    if left is None or not (right == 0 or problem.causal):
        raise Refused(
            "a number of keys describes only a window with a left bound and nothing ahead"
        )
    return left + 1


def left_bound(window: Window, problem: Problem) -> int:
    """The left bound of a window alone, -1 for none (FlashInfer).

    Raises Refused if the window has a right bound that causality does not give.
    """
    left, right = window
    if right is not None and not (problem.causal and right >= 0):
        raise Refused("a left bound describes no window with a right bound of its own")
    return -1 if left is None else left


# Names of a window whose values have other units.
UNITS = {"local_window_size": beside, "sliding_window": with_itself, "window_left": left_bound}


def padding_keys(mask: Array, problem: Problem) -> Array:
    """A boolean mask of keys alone, (B, M): True is padding, as in torch.nn.MultiheadAttention.

    Raises Refused if the mask is not of shape (B, 1, 1, M), or additive.
    """
    if mask.dtype != bool or mask.shape != (problem.B, 1, 1, problem.M):
        raise Refused("a key padding mask is boolean and (B, M)")
    return np.asarray(~mask[:, 0, 0])


def for_all_heads(mask: Array, problem: Problem) -> Array:
    """A boolean mask (N, M) for all heads, which replaces causality (FlashInfer).

    Raises Refused if the mask is additive, or differs between sequences or heads.
    """
    if mask.dtype != bool or any(size != 1 for size in mask.shape[:-2]):
        raise Refused("a custom mask is boolean and (N, M)")
    return np.broadcast_to(mask.reshape(mask.shape[-2:]), (problem.N, problem.M))


# Names of a mask that masks keys for all queries alike.
OF_KEYS = {"key_padding_mask": padding_keys}
OF_HEADS = {"custom_mask": for_all_heads}  # the same for all heads
OWN = {**OF_HEADS, **OF_KEYS}  # names of a mask that mean something else than `attn_mask`
