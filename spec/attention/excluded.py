"""The options that no problem of a domain has.

A clause holds where none of them is used; where one is, it may not. Adding a vector to every key
leaves the output unchanged (K1), but not if scores have a soft-cap.
"""

from collections.abc import Mapping

from spec.attention import masks
from spec.attention.domain import OPTIONS, Problems
from spec.attention.options import Capability
from spec.attention.planted import Planted

WORDS: Mapping[str, str] = {
    Capability.CAUSAL: "causality",
    Capability.WIDTHS: "values wider or narrower than keys",
}

AFTER_BIAS = "a soft-cap of biased scores (softcap=after-bias)"
RESTARTING = "segments in which positions restart (positions=in-sequence)"
LEADING = "leading keys"
FEW = (Capability.SCALE, Capability.WIDTHS)  # which a problem with few options has, if no others
OF_MASKS: Mapping[str, Mapping[str, object]] = {
    Capability.MASK: masks.BOOLEAN,
    Capability.BIAS: masks.ADDITIVE,
}


def excluded(domain: Problems | Planted) -> tuple[str, ...]:
    """The options in words, such as "a soft-cap"."""
    if isinstance(domain, Planted):
        drawn = (Capability.GROUPS, Capability.WIDTHS, Capability.CAUSAL)
        return tuple(_said(x) for x in OPTIONS if x not in drawn)
    rows = domain.in_rows or (domain.positions is False and not domain.segments)
    never = {option: _is_never(domain, option) for option in OPTIONS}
    further = {  # of square problems, and where options have several meanings
        LEADING: domain.firsts is False and not never[Capability.WINDOW],
        "N other than M": domain.square,
        AFTER_BIAS: domain.shifts and not never[Capability.CAP],
        RESTARTING: rows and not never[Capability.SEGMENTS],
    }
    found = {_said(option): lacking for option, lacking in never.items()} | further
    return tuple(said for said, lacking in found.items() if lacking)


def _said(option: str) -> str:
    return WORDS.get(option, option.removeprefix("takes "))


def _is_never(domain: Problems, option: str) -> bool:
    """Whether no problem of a domain has an option."""
    if option in OF_MASKS:
        return not {*domain.masks} & {*OF_MASKS[option]}
    if option == Capability.WINDOW and domain.causal is False and not domain.windows:
        return True
    without, _ = OPTIONS[option]
    never = all(getattr(domain, name) == value for name, value in without.items())
    return never and not (domain.few and option in FEW)
