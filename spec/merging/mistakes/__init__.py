"""Known bugs of merging, each with a name, a sentence and a class of incidents."""

from collections.abc import Mapping

from spec.merging.mistakes import backward, harmless, measuring, weighing
from spec.mistake import Mistake, catalogue

MISTAKES: Mapping[str, Mistake] = catalogue(weighing, measuring, backward, harmless)
