"""Conventions, which the mathematics of attention leaves open, and their choices.

A caller declares a convention once; what may differ from call to call is an option instead. Some
conventions are converted where a function is called (`plug.conventions`). Others are fields of the
problem that the function gets; `as_chosen` gives these.
"""

from collections.abc import Mapping
from typing import Any

from spec.attention.notation import Problem
from spec.notation import Posed, Products
from spec.subject import GRADIENTS, ROUNDING, Subject

# The default first.
# `fully-masked` is for queries that booleans (a boolean mask, causality) mask fully, and
# `fully-masked-bias` for
# queries that -inf in an additive mask masks fully.
CONVENTIONS: Mapping[str, tuple[str, ...]] = {
    "fully-masked": ("zero", "nan", "uniform"),
    "fully-masked-bias": ("as-fully-masked", "zero", "nan", "uniform"),
    "causal": ("top-left", "bottom-right"),
    "window-alignment": ("as-causal", "top-left", "bottom-right"),
    "slopes-alignment": ("as-causal", "top-left", "bottom-right"),
    "positions": ("in-array", "in-sequence"),
    "slopes-ahead": ("distance", "signed"),
    "slopes-from": ("distance", "keys"),
    "padding-rows": ("zero", "untouched"),
    "padding-queries": ("as-fully-masked", "zero"),
    "parts": ("whole", "merged"),
    "tanh": ("exact", "sigmoid", "approximate"),
    "products": ("exact", "tf32"),
    "softcap": ("before-bias", "after-bias"),
    "lse-base": ("e", "2"),
    "lse-sink": ("with", "without"),
    "fully-masked-lse": ("-inf", "+inf"),
    "grouping": ("blocks", "interleaved"),
    "mask-means": ("attend", "forbid"),
    "causality": ("optional", "always"),
    "lengths": ("any", "equal"),
    **GRADIENTS,
    **ROUNDING,
}

# Never declared, but detected with a problem (`plug.units`): how sums of products are rounded.
SUMS = ("sums", "cut off")


def as_chosen(chosen: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a problem for these choices; defaults for conventions not among them."""
    window, slopes = chosen.get("window-alignment"), chosen.get("slopes-alignment")
    return {
        "corner": chosen.get("causal", Problem.corner),
        "window_corner": None if window == "as-causal" else window,
        "slopes_corner": None if slopes == "as-causal" else slopes,
        "in_text": chosen.get("positions") == "in-sequence",
        "signed_slopes": chosen.get("slopes-ahead") == "signed",
        "slopes_by_key": chosen.get("slopes-from") == "keys",
        "caps_bias": chosen.get("softcap") == "after-bias",
        "fast_tanh": chosen.get("tanh") == "approximate",
        "sigmoid_tanh": chosen.get("tanh") == "sigmoid",
        "products": products_as(chosen),
        "untouched": chosen.get("padding-rows") == "untouched",
        "merged": chosen.get("parts") == "merged",
    }


def products_as(chosen: Mapping[str, str]) -> Products:
    """The arithmetic that matrix units may use (`rounding.units`)."""
    if chosen.get("products") == "tf32":
        return "tf32"
    return "cut" if SUMS in chosen.items() else "exact"


# For kinds that leave nothing else open.
OF_UNITS = {"products": CONVENTIONS["products"], **ROUNDING}


def granted(record: Any, problem: Posed) -> Any:
    """The problem with the arithmetic of matrix units that the record chose."""
    return problem.but(products=products_as(record.chosen))


def declaring(record: Subject, declared: Mapping[str, str]) -> Any:
    """The record with the declared conventions."""
    return record.but(conventions={**record.chosen, **declared})
