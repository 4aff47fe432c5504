"""Known bugs of linear biases (ALiBi), and variants that only look wrong."""

from spec.mistake import catalogue
from spec.positions.alibi.mistakes import biases

MISTAKES = catalogue(biases)
