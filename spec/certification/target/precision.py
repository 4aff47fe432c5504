"""Whether a target computes float64 with the accuracy of float32, as JAX does by default."""

from collections.abc import Mapping
from typing import Any

from spec.kind import Kind
from spec.laws import CLAUSES
from spec.trial import keeps

IN_SINGLE = "computes float64 in float32"


def in_single(found: Kind, by_dtype: Mapping[str, Any]) -> tuple[str, ...]:
    """The note that float64 has the accuracy of float32, if it does; else nothing.

    by_dtype: what the target supports in each dtype. A target that is wrong in another way, for
    example by a number added to a denominator, is also wrong where nothing is rounded.
    """
    if not found.trials.precise or "float64" not in by_dtype:
        return ()
    record, clause = by_dtype["float64"], CLAUSES[found.definition]
    fitted = (found.functions.fitted(record, x) for x in found.trials.precise)
    problem = next(fitted)
    single = record.through(lambda _, f: lambda p, *rest: f(p.but(dtype="float64"), *rest))
    if keeps(clause, record, problem) or not keeps(clause, single, problem.but(dtype="float32")):
        return ()
    return (IN_SINGLE,) if all(keeps(clause, record, x) for x in fitted) else ()
