"""Merging: every clause holds for what is right, in whatever form."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec

import pytest

from spec import about, certify
from spec.clause import Clause
from spec.kinds import KINDS
from spec.merging.mistakes import MISTAKES
from spec.merging.notation import Merging
from spec.merging.plug import merging
from spec.merging.plug.conventions import under
from spec.mistake import Mistake
from tests.judging import QUICK, bound, broken, found
from tests.night import deep, usual

WHERE = {
    "numpy": "implementations.merging",
    "torch": "implementations.merging_torch",
    "oracle": "oracles.merging",
}
NEEDS = {"numpy": "numpy", "torch": "torch", "oracle": "torch"}
CASES = [
    pytest.param(name, dtype, id=f"{name}-{dtype}")
    for name, needed in NEEDS.items()
    if find_spec(needed)
    for dtype in ("float64", "float32", "float16", "bfloat16")
    if (name, dtype) != ("numpy", "bfloat16")
]

BY_DEFAULT = {
    ("numpy", "float64"),
    ("numpy", "float16"),
    ("torch", "bfloat16"),
    ("oracle", "float32"),
}
USUAL = usual(CASES, lambda *values: values in BY_DEFAULT)


@cache
def right(name: str) -> Merging:
    return merging(import_module(WHERE[name]).merge)


@pytest.mark.parametrize(("name", "dtype"), USUAL)
def test_every_clause_holds_for_what_is_right(name: str, dtype: str) -> None:
    assert bound(right(name)) == [*about("merging").values()]
    assert not broken(right(name), dtype, QUICK)


@pytest.mark.slow
@pytest.mark.jax
def test_a_merge_in_jax_is_certified_as_it_is_compiled() -> None:
    from tests.merging.in_jax import merge

    asked = {"profile": "quick", "dtypes": ("float32",), "compiled": "static"}
    certificate = certify(merge, **asked)  # type: ignore[arg-type]
    assert certificate.passed, str(certificate)
    assert len(certificate.verdicts) == len(about("merging"))


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_there_are_no_false_alarms(name: str, dtype: str, seed: int) -> None:
    assert not broken(right(name), dtype, seed=seed)


@pytest.mark.parametrize("mistake", [x for x in MISTAKES.values() if x.convention])
def test_a_mistake_that_is_a_convention_is_right_when_it_is_declared(mistake: Mistake) -> None:
    assert mistake.convention is not None
    subject, (name, choice) = KINDS["merging"].subjects[mistake.name], mistake.convention
    assert broken(subject, "float32", QUICK)
    assert not broken(under(subject, {name: choice}), "float32", QUICK)


@pytest.mark.parametrize("clause", about("merging").values(), ids=lambda clause: clause.id)
@pytest.mark.parametrize("dtype", [deep("float64"), "float32", deep("float16")])
def test_many_digits_keep_every_clause(clause: Clause, dtype: str) -> None:
    """The oracle of many digits, on small problems: it takes its time."""
    from oracles.merging_digits import MANY_DIGITS

    if clause.binds(MANY_DIGITS):
        finding = found(clause, MANY_DIGITS, dtype, examples=2, reach="small")
        assert finding.violation is None
