"""Known bugs of caches: plausible wrong implementations.

A known bug replaces one step of a correct cache. Every clause names those that it must reject.
Harmless variants only look wrong; they must be certified.
"""

from collections.abc import Mapping

from spec.cache.mistakes import attending, calling, forgetting, going_back, keeping
from spec.mistake import Mistake, catalogue

MISTAKES: Mapping[str, Mistake] = catalogue(attending, keeping, forgetting, going_back, calling)
