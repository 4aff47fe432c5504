"""Plausible wrong rotations by position, and some that only look wrong.

angles    the angle is wrong
turns     what is made of it; and three that are right after all
"""

from spec.mistake import catalogue
from spec.positions.rotary.mistakes import angles, turns

MISTAKES = catalogue(angles, turns)
