"""Plausible wrong linear biases, and some that only look wrong."""

from spec.mistake import catalogue
from spec.positions.alibi.mistakes import biases

MISTAKES = catalogue(biases)
