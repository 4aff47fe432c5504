"""Plausible wrong feed-forward networks: functions of x, W1, b1, W2, b2 of NumPy arrays.

forward     the output is wrong
backward    the gradients are, or the call is no function
harmless    right after all
"""

from spec.feed_forward.mistakes import backward, forward, harmless
from spec.mistake import catalogue

MISTAKES = catalogue(forward, backward, harmless)
