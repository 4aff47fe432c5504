"""Plausible wrong rotations by position, and some that only look wrong.

angles    the angle is wrong
turns     what is made of it; and three that are right after all
"""

from collections.abc import Mapping

from spec.mistake import Mistake, catalogue
from spec.positions.rotary.mistakes import angles, turns

MISTAKES: Mapping[str, Mistake] = catalogue(angles, turns)
