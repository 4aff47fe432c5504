"""Parameters of a test that are tried at night alone, as a whole test is that is marked `deep`."""

from typing import Any

import pytest
from _pytest.mark import ParameterSet


def deep(*values: Any) -> ParameterSet:
    """The values of one parameter set, which the default run leaves out."""
    return pytest.param(*values, marks=pytest.mark.deep)
