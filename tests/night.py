"""Parameters of a test that are tried at night alone, as a whole test is that is marked `deep`."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def deep(*values: Any) -> ParameterSet:
    """The values of one parameter set, which the default run leaves out."""
    return pytest.param(*values, marks=pytest.mark.deep)


def usual(cases: Iterable[ParameterSet], chosen: Callable[..., bool]) -> list[ParameterSet]:
    """Parameter sets, of which the default run has those whose values are chosen."""
    return [
        pytest.param(*x.values, id=x.id, marks=[*x.marks, *later])
        for x in cases
        for later in [[pytest.mark.deep] * (not chosen(*x.values))]
    ]
