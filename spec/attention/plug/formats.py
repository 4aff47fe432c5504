"""In which format, and how in memory, a function has each of its arrays."""

from collections.abc import Iterator
from contextlib import contextmanager

from spec.attention.notation import Problem
from spec.attention.options import ARRAYS, Capability, kinds_of
from spec.attention.plug.layouts import Lying
from spec.attention.plug.packing import STARTS
from spec.attention.plug.paging import NEW, PAGING
from spec.backends.results import WrongDtype
from spec.notation import HALF, Array, Memory
from spec.subject import Refused

WHOLE = tuple(option.name for option in ARRAYS if option.whole)
MASK_OF = "the output has the dtype of the mask, which is another one than that of the arrays"
LYING = (*STARTS, *(x for x in PAGING if x not in NEW.values()))  # that say where tokens lie


def format_of(problem: Problem, name: str) -> str:
    """The format in which a function has an array of the problem, and its gradient."""
    formats = (option.dtype(problem) for option in ARRAYS if option.name == name)
    if name == "dlse" and problem.dtype in HALF:
        return "float32"
    return "int32" if name in LYING else next(formats, problem.dtype)


@contextmanager
def promoting(problem: Problem) -> Iterator[None]:
    """Refuse for a target whose output has the dtype of a mask in float32, as sums in NumPy do.

    That is another way to call it, not an error: what has the right values need not be in 16 bits.
    """
    try:
        yield
    except WrongDtype as error:
        if error.got == "float32" and Capability.MIXED in kinds_of(problem):
            raise Refused(MASK_OF) from None
        raise


def memory_of(problem: Problem, name: str, lies: Lying, x: Array) -> Memory:
    """How an array x of the problem lies in memory; what has one axis, or no tokens, lies tidily.

    And what is written into has a place for each of its numbers.
    """
    shared = problem.memory == "expanded" and lies.writes and name in NEW
    tokens = {*problem.axes.get(name, "")} & {*"NM"}
    return problem.memory if tokens and not shared and x.ndim > 1 else "contiguous"
