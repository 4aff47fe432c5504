"""The kinds of problem that a parameter cannot express, though it is named after an option."""

from collections.abc import Mapping

from spec.attention.options import CAUSAL, MASK, Capability, together
from spec.attention.parameter import OF_HEADS, OF_KEYS
from spec.attention.texts import BOTH, LENGTHS

LACKS: Mapping[str, tuple[str, ...]] = {
    BOTH: (Capability.OTHERS,),
    **dict.fromkeys(LENGTHS, (Capability.LABELS,)),
    **dict.fromkeys(OF_KEYS, (Capability.FORMS, Capability.BIAS)),
    # A mask that replaces causality: both together are written as one mask.
    **dict.fromkeys(OF_HEADS, (Capability.BIAS, Capability.MIXED, together(MASK, CAUSAL))),
}
