"""Known bugs of feed-forward networks: functions of x, W1, b1, W2, b2 of NumPy arrays.

forward     the output is wrong
backward    the gradients are wrong, or the call has side effects or changing results
harmless    correct variants that only look wrong
"""

from spec.feed_forward.mistakes import backward, forward, harmless
from spec.mistake import catalogue

MISTAKES = catalogue(forward, backward, harmless)
