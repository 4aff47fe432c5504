"""Plausible wrong caches, a catalogue of temptations.

A mistake replaces one step of a right cache (`buffered`), or wraps its answers. Every
clause names those that it must reject; the harmless ones must be certified.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.cache.mistakes import attending, calling, going_back, keeping
from spec.cache.mistakes.mistake import Mistake

__all__ = ["MISTAKES", "MODULES", "Mistake"]

MODULES = (attending, keeping, going_back, calling)

MISTAKES: Mapping[str, Mistake] = {
    value.mistake.name: value.mistake
    for module in MODULES
    for value in vars(module).values()
    if isinstance(getattr(value, "mistake", None), Mistake)
}
