"""Plausible wrong dropout: classes of NumPy arrays, built from a rate.

factors     what becomes of a weight that was kept
masks       who shares a mask, and where it comes from
backward    gradients of another mask; and what is harmless
"""

from spec.dropout.mistakes import backward, factors, masks
from spec.mistake import catalogue

MISTAKES = catalogue(factors, masks, backward)
