"""Plausible wrong caches, a catalogue of temptations.

A mistake replaces one step of a right cache. Every clause names those that it must reject; the
harmless ones must be certified.
"""

from collections.abc import Mapping

from spec.cache.mistakes import attending, calling, forgetting, going_back, keeping
from spec.mistake import Mistake, catalogue

MISTAKES: Mapping[str, Mistake] = catalogue(attending, keeping, forgetting, going_back, calling)
