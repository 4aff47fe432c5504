"""The options that no problem of a domain has.

A clause holds where none of them is used; where one is, it may not. Adding a vector to every key
leaves the output unchanged (K1), but not if scores have a soft-cap.
"""

from collections.abc import Iterator, Mapping

from spec.attention.domain import OPTIONS, Problems
from spec.attention.options import Capability

WORDS: Mapping[str, str] = {
    Capability.CAUSAL: "causality",
    Capability.WIDTHS: "values wider or narrower than keys",
}


def excluded(domain: Problems) -> tuple[str, ...]:
    """The options in words, such as "a soft-cap"."""
    found = (WORDS.get(option, option.removeprefix("takes ")) for option in _options(domain))
    return (*found, *["N other than M"] * domain.square)


def _options(domain: Problems) -> Iterator[str]:
    for option, (without, _) in OPTIONS.items():
        no_window = option == Capability.WINDOW and domain.causal is False and not domain.windows
        no_cap = option == Capability.CAP and domain.shifts
        never = all(getattr(domain, name) == value for name, value in without.items())
        if never or no_window or no_cap:
            yield option
