"""Sentences of several features are read as Python reads the same words."""

import itertools

import pytest

from spec.attention.features import VOCABULARY
from spec.attention.plug.trials import square

ATOMS = ("causal", "float32", "N > 4")
JOINED = [*itertools.product(("and", "or"), repeat=2)]
DENIED = [*itertools.product(("", "not "), repeat=3)]


@pytest.mark.parametrize("joined", JOINED, ids="-".join)
@pytest.mark.parametrize("denied", DENIED)
def test_not_binds_closer_than_and_and_that_closer_than_or(
    joined: tuple[str, str], denied: tuple[str, str, str]
) -> None:
    one, two, three = (f"{no}{{{i}}}" for i, no in enumerate(denied))
    flat = f"{one} {joined[0]} {two} {joined[1]} {three}"
    left = f"({one} {joined[0]} {two}) {joined[1]} {three}"
    right = f"{one} {joined[0]} not ({two} {joined[1]} {three})"
    for causal, dtype, N in itertools.product((False, True), ("float32", "float64"), (4, 5)):
        problem = square(dtype, N=N).but(causal=causal)
        values = (causal, dtype == "float32", N > 4)
        for form in (flat, left, right):
            wanted = eval(form.format(*values))
            assert VOCABULARY.sentence(form.format(*ATOMS))(problem, "") is wanted, form
