"""Plausible wrong rotations by position, and some that only look wrong."""

from spec.mistake import catalogue
from spec.positions.rotary.mistakes import angles, turns

MISTAKES = catalogue(angles, turns)
