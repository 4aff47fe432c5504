"""The shapes of the options of a call that raised an exception, and a mask that raises none."""

from collections.abc import Callable, Mapping
from typing import Any

from spec.attention.notation import Problem
from spec.attention.options import ARRAYS, MASK
from spec.attention.plug.signature import Signature
from spec.backends.shapes import ACCEPTED, in_letters

OF_KEYS = "(B, M)"  # a mask that many functions take, and that no option has


def shapes_of(
    signature: Signature,
    problem: Problem,
    options: Mapping[str, Any],
    answers: Callable[[Mapping[str, Any]], bool],
) -> dict[str, str]:
    """The shapes of the arrays among the options of a call, by their names in the function.

    answers: whether the call returns an output if some options are changed. A mask of keys alone,
    (B, 1, 1, M), is tried as (B, M), too; if that is accepted, the shape stands among the others.
    """
    found: dict[str, str] = {}
    for p in ARRAYS:
        names = (signature.options.get(p.name), signature.added if p.added else None)
        for name in (x for x in names if x is not None and options.get(x) is not None):
            x, letters = options[name], Problem.axes[p.name].split()
            sizes = {letter: getattr(problem, letter) for letter in letters}
            found[name] = in_letters(tuple(x.shape), sizes)
            of_keys = p is MASK and tuple(x.shape) == (problem.B, 1, 1, problem.M)
            if of_keys and answers({name: x.reshape(problem.B, problem.M)}):
                found[ACCEPTED] = OF_KEYS
    return found
