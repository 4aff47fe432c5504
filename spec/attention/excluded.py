"""The options that no problem of a domain has.

A clause holds where none of them is used; where one is, it may not. Adding a vector to every key
leaves the output unchanged (K1), but not if scores have a soft-cap.
"""

from collections.abc import Iterator, Mapping

from spec.attention.domain import OPTIONS, Problems
from spec.attention.options import Capability
from spec.attention.planted import Planted

WORDS: Mapping[str, str] = {
    Capability.CAUSAL: "causality",
    Capability.WIDTHS: "values wider or narrower than keys",
}

AFTER_BIAS = "a soft-cap of biased scores (softcap=after-bias)"
RESTARTING = "segments in which positions restart (positions=in-sequence)"
FEW = (Capability.SCALE, Capability.WIDTHS)  # which a problem with few options has, if no others


def excluded(domain: Problems | Planted) -> tuple[str, ...]:
    """The options in words, such as "a soft-cap"."""
    if isinstance(domain, Planted):
        options = [x for x in OPTIONS if x not in (Capability.GROUPS, Capability.WIDTHS)]
        return tuple(map(_said, options))
    rows = domain.in_rows or (domain.positions is False and not domain.segments)
    of_conventions = {  # which have a meaning under another convention
        "N other than M": domain.square,
        AFTER_BIAS: domain.shifts and domain.caps is not False,
        RESTARTING: rows and domain.segments is not False,
    }
    lacks = (said for said, lacking in of_conventions.items() if lacking)
    return (*map(_said, _options(domain)), *lacks)


def _said(option: str) -> str:
    return WORDS.get(option, option.removeprefix("takes "))


def _options(domain: Problems) -> Iterator[str]:
    for option, (without, _) in OPTIONS.items():
        no_window = option == Capability.WINDOW and domain.causal is False and not domain.windows
        never = all(getattr(domain, name) == value for name, value in without.items())
        if no_window or (never and not (domain.few and option in FEW)):
            yield option
