"""The register of all kinds of subject that can be certified.

To add a kind, write a package with the structure of `spec.attention` and list its `KIND` here. If a
target (a class, say) is detected as two kinds, the later one in this list is chosen.
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
    """The `Kind` with this name; KeyError if there is none."""
    return KINDS[about]
