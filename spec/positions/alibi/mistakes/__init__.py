"""Plausible wrong linear biases, and some that only look wrong."""

from collections.abc import Mapping

from spec.mistake import Mistake, catalogue
from spec.positions.alibi.mistakes import biases

MISTAKES: Mapping[str, Mistake] = catalogue(biases)
