"""Known bugs of sinusoidal positions, and variants that only look wrong."""

from spec.mistake import catalogue
from spec.positions.sinusoidal.mistakes import tables

MISTAKES = catalogue(tables)
