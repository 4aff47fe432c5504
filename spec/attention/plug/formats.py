"""In which format, and how in memory, a function has each of its arrays."""

from spec.attention.notation import Problem
from spec.attention.options import ARRAYS
from spec.attention.plug.layouts import Lying
from spec.attention.plug.packing import STARTS
from spec.attention.plug.paging import NEW, PAGING
from spec.notation import HALF, Array, Memory

WHOLE = tuple(option.name for option in ARRAYS if option.whole)
LYING = (*STARTS, *(x for x in PAGING if x not in NEW.values()))  # that say where tokens lie


def format_of(problem: Problem, name: str) -> str:
    """The format in which a function has an array of the problem, and its gradient."""
    formats = (option.dtype(problem) for option in ARRAYS if option.name == name)
    if name == "dlse" and problem.dtype in HALF:
        return "float32"
    return "int32" if name in LYING else next(formats, problem.dtype)


def memory_of(problem: Problem, name: str, lies: Lying, x: Array) -> Memory:
    """How an array x of the problem lies in memory; what has one axis, or no tokens, lies tidily.

    And what is written into has a place for each of its numbers.
    """
    shared = problem.memory == "expanded" and lies.writes and name in NEW
    tokens = {*problem.axes.get(name, "")} & {*"NM"}
    return problem.memory if tokens and not shared and x.ndim > 1 else "contiguous"
