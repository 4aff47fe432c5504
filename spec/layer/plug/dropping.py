"""Layers that drop numbers when they are called. No clause allows it; the error says how to stop.

A layer drops numbers if calls of one object with the same inputs differ, are the same again from
the same seed, and differ from another seed. A layer that remembers its calls does not, and neither
does one that draws numbers only when it is built.
"""

from itertools import pairwise

import numpy as np

from spec.abilities import Guarded
from spec.backends import sources
from spec.backends.calling import behind
from spec.backends.library import Library, Unsuitable
from spec.comparison import Violation
from spec.layer.notation import LayerProblem
from spec.layer.plug.layers import WrappedLayer
from spec.layer.plug.rates import rates_of, without
from spec.layer.plug.trials import core, fitted
from spec.layer.record import Layer
from spec.notation import Array
from spec.subject import Refused, not_offered

CALLS = 8  # of one object: with a rate of 1%, too, some of them differ


def steady(record: Layer, guard: Guarded) -> None:
    """Raises Unsuitable: the layer drops numbers in training mode, with what turns that off."""
    seen, wrapped = guard(record), behind(record.forward, WrappedLayer)
    if wrapped is None or record.sequence is not_offered:
        return
    problem = fitted(record, core(record.dtypes[0]))
    if not _drops(seen, wrapped.library, problem):
        return
    always = _drops(seen, wrapped.library, problem.but(training=False))
    when = "even in evaluation mode" if always else "in training mode"
    found = [f"{name}={rate}" for name, rate in rates_of(wrapped, wrapped.made(problem))]
    listed = f" ({', '.join(found)})" if found else ""
    where = "where the object is built" if wrapped.instance is not None else _where(wrapped)
    raise Unsuitable(
        f"{record.name} has dropout on {when}{listed}: a layer is tested without dropout; set its "
        f"rate to 0 {where}"
    )


def _drops(record: Layer, library: Library, problem: LayerProblem) -> bool:
    """Whether calls of one object differ as random numbers do."""
    try:
        first = _outputs(record, library, problem, 0)
        if all(_same(x, y) for x, y in pairwise(first)):
            return False
        again, other = (_outputs(record, library, problem, seed) for seed in (0, 1))
    except (Violation, Refused):
        return False
    return all(map(_same, first, again)) and not all(map(_same, first, other))


def _outputs(
    record: Layer, library: Library, problem: LayerProblem, seed: int
) -> tuple[Array, ...]:
    """The outputs of calls in a row, from a seed."""
    with sources.own(library, seed):
        return record.sequence((problem,) * CALLS)


def _same(one: Array, other: Array) -> bool:
    return np.array_equal(one, other, equal_nan=True)


def _where(wrapped: WrappedLayer) -> str:
    """Where the rate of a class is set."""
    if wrapped.told.make:
        return "in `make` of the description"
    if make := without(wrapped.build):
        return f'by a --description FILE with make = "{make}"'
    return "where the class sets it, or in `make` of a --description FILE"
