"""In which format, and how in memory, a function has each of its arrays."""

from spec.attention.notation import Problem
from spec.attention.options import ARRAYS
from spec.attention.plug.packing import STARTS
from spec.attention.plug.paging import PAGING
from spec.notation import Memory

WHOLE = tuple(option.name for option in ARRAYS if option.whole)
LYING = (*STARTS, *PAGING)  # arrays that say where tokens lie


def format_of(problem: Problem, name: str) -> str:
    """The format in which a function has an array of the problem, and its gradient."""
    formats = (option.dtype(problem) for option in ARRAYS if option.name == name)
    return "int32" if name in LYING else next(formats, problem.dtype)


def memory_of(problem: Problem, name: str) -> Memory:
    """How an array of the problem lies in memory; what has a number for each head lies tidily."""
    return problem.memory if {*problem.axes.get(name, "")} & {*"NM"} else "contiguous"
