"""The options that no problem of a domain of layers has."""

from collections.abc import Mapping

from spec.layer.domain import HIDING, LayerProblems
from spec.layer.record import Capability

HIDDEN: Mapping[str, str] = {
    "a boolean mask": Capability.MASK,
    "an additive mask": Capability.BIAS,
    "a mask per head": Capability.HEAD_MASK,
    "a padding mask": Capability.PADDING,
    "causality": Capability.CAUSAL,
}


def excluded(domain: LayerProblems) -> tuple[str, ...]:
    """The options in words, such as "causality"."""
    drawn = frozenset[str]().union(*(HIDING[kind] for kind in domain.hiding))
    lacks = {said: option not in drawn for said, option in HIDDEN.items()}
    lacks |= {
        "a fully masked query": not any(kind.startswith("idle") for kind in domain.hiding),
        "fewer key heads than query heads": domain.grouped is False,
        "input widths that differ": domain.own_widths is False,
        "biases of projections": domain.biases == (),
        "N other than M": domain.square or domain.arrays == (1,),
    }
    return tuple(said for said, lacking in lacks.items() if lacking)
