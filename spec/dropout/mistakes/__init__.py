"""Known bugs of dropout: classes of NumPy arrays, built from a dropout rate.

factors     wrong factors, modes or rates, or dropout of the wrong array
masks       masks that are shared, come from the wrong source, or depend on the weights
backward    gradients of another mask; and harmless variants
"""

from spec.dropout.mistakes import backward, factors, masks
from spec.mistake import catalogue

MISTAKES = catalogue(factors, masks, backward)
