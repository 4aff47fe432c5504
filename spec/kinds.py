"""The kinds of subject that can be certified: the only register.

A new kind is a chapter, a package of the shape of `spec.attention`, and its `KIND` here. What
is told by the look of it (a class, say) may be told by two of them; the later one has it.
"""

from spec.attention.kind import KIND as ATTENTION
from spec.cache.kind import KIND as CACHE
from spec.dropout.kind import KIND as DROPOUT
from spec.feed_forward.kind import KIND as FEED_FORWARD
from spec.kind import Kind
from spec.layer.kind import KIND as LAYER
from spec.merging.kind import KIND as MERGING
from spec.positions.alibi.kind import KIND as ALIBI
from spec.positions.rotary.kind import KIND as ROTARY
from spec.positions.sinusoidal.kind import KIND as SINUSOIDAL

ALL = (ATTENTION, LAYER, SINUSOIDAL, ROTARY, ALIBI, FEED_FORWARD, DROPOUT, CACHE, MERGING)
KINDS: dict[str, Kind] = {kind.about: kind for kind in ALL}


def kind_of(about: str) -> Kind:
    """What certification knows about a kind of subject."""
    return KINDS[about]
