"""Plausible wrong sinusoidal positions, and some that only look wrong."""

from collections.abc import Mapping

from spec.mistake import Mistake, catalogue
from spec.positions.sinusoidal.mistakes import tables

MISTAKES: Mapping[str, Mistake] = catalogue(tables)
