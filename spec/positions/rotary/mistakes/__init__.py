"""Known bugs of rotary position embeddings, and variants that only look wrong."""

from spec.mistake import catalogue
from spec.positions.rotary.mistakes import angles, turns

MISTAKES = catalogue(angles, turns)
