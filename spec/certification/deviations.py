"""Clauses that other people's implementations are known to break, each with its reason.

A deviation is strict: it is reported as soon as the clause holds again. What
stands here was found by the specification itself, at the versions named.
"""

from __future__ import annotations

from collections.abc import Mapping

_ODD_SCALES = (
    "torch 2.13 on a CPU: the flash kernel adds -inf for the future before it scales, so "
    "that causal attention with a scale of zero or less is NaN (smallest: one query, two keys)"
)

# By the target's origin and the device; a name that is not here has none.
KNOWN: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("torch.nn.functional:scaled_dot_product_attention", "cpu"): {"C14": _ODD_SCALES},
    ("oracles.sdpa:flash", "cpu"): {"C14": _ODD_SCALES},
}


def known(origin: str, device: str) -> Mapping[str, str]:
    """The deviations of the implementation that is imported as `origin`, on a device."""
    return KNOWN.get((origin, device), {})
