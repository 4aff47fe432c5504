"""An ordinary attention function plugged in."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from spec.attention.options import Capability
from spec.attention.plug.differentiating import Differentiable
from spec.attention.plug.large import at_large as at_large
from spec.attention.plug.layouts import LAYOUTS, USUAL, laid
from spec.attention.plug.packing import CHOICES
from spec.attention.plug.signature import signature_of
from spec.attention.plug.spelling import SPELLINGS
from spec.attention.plug.untested import ADVICE
from spec.attention.plug.wrapping import Wrapped
from spec.attention.record import Implementation
from spec.backends import known
from spec.backends.calling import behind, library_of, named
from spec.backends.library import name_of
from spec.backends.unknown import unknown

OF_DOUT = ("backward", "bias_gradient", "sink_gradient", "slope_gradient")
BESIDE = (*OF_DOUT, "weights", "lse", "training")
OF_CACHES = ("lse",)  # which are read, and learn nothing


def implementation(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    backend: str | None = None,
    layout: str = USUAL,
    device: str = "cpu",
    conventions: Mapping[str, str] | None = None,
    spelling: str | None = None,
    dtypes: tuple[str, ...] | None = None,
    origin: str = "",
    **beside: Callable[..., Any] | None,
) -> Implementation:
    """The record of an ordinary attention function, its parameters matched by name.

    spelling: the library whose names and values the options have (`plug.spelling`), and whose
        conventions apply unless others are declared.
    beside: other functions, which default to its attributes of these names:
        backward(dout, query, key, value, **options) -> (dq, dk, dv), or a mapping of gradients
        by the names of what they are taken by; where the log-sum-exp has a cotangent too, that is
        its parameter dlse, None by default;
        bias_gradient, sink_gradient and slope_gradient, called likewise, shaped like mask, sinks
        and slopes; and weights, lse and training, called like the function: the output where
        training has another one. A function that returns its log-sum-exp where a parameter asks
        for it (`signature.RETURNING`) needs no lse.
    A function with cumulative lengths (`packing.PACKING`) takes packed sequences, in no other
    layout. One with numbers of keys (`paging.PAGING`) takes keys in a cache. One with a page table
    and cumulative lengths takes packed queries and paged keys (`serving`).
    Raises Unsuitable: a function that cannot be called as attention, an unknown
    layout, backend or dtype.
    """
    if layout not in LAYOUTS:
        raise unknown("layout", layout, LAYOUTS)
    if not beside.keys() <= {*BESIDE}:
        raise TypeError(f"there are {', '.join(BESIDE)}, not {', '.join(beside)}")
    arrays, said = library_of(function, backend, device), SPELLINGS.get(spelling or "")
    signature = replace(signature_of(function), spelling=said)
    carries = bool(signature.carried)
    wrapped = Differentiable(
        function, signature, arrays, laid(layout, name_of(function), signature)
    )
    offered = OF_CACHES if wrapped.layout.pages and not wrapped.layout.packs else BESIDE
    given = {x: beside.get(x) or getattr(function, x, None) for x in offered}
    others = {x: _like(wrapped, x, f) for x, f in given.items() if callable(f)}
    if wrapped.signature.returning:
        others = {"lse": wrapped.with_lse, **others}
    return Implementation(
        name=name or name_of(function),
        forward=wrapped.forward,
        call=wrapped.watched,
        answers=wrapped.signature.kinds - wrapped.layout.lacks,
        dtypes=known(dtypes or arrays.dtypes, arrays),
        conventions={
            **(CHOICES if carries else {}),
            **(said.conventions if said else {}),
            **(conventions or getattr(function, "conventions", {})),
        },
        origin=origin,
        notes=(
            *([f"takes arrays {wrapped.layout.words}"] * carries),
            *named(signature.unused, ADVICE),
        ),
        **_beside(wrapped, others),
    )


def _like(wrapped: Differentiable, name: str, function: Callable[..., Any]) -> Differentiable:
    """The function of that name in place of the attention function."""
    roles = ("dout", "q", "k", "v") if name in OF_DOUT else ("q", "k", "v")
    spelled = replace(signature_of(function, roles), spelling=wrapped.signature.spelling)
    return replace(wrapped, function=function, signature=spelled)


def _beside(wrapped: Differentiable, given: Mapping[str, Differentiable]) -> dict[str, Any]:
    """The functions beside the forward pass: those that are given, else the library's gradients."""
    kinds, form = wrapped.signature.kinds - wrapped.layout.lacks, wrapped.layout
    kinds -= {Capability.PAGES} if form.pages else set()
    found: dict[str, Any] = {"differentiates": kinds}
    if "backward" in given:
        backward = given["backward"]
        found = {"backward": backward.given_gradients}
        found["differentiates"] = kinds & backward.signature.kinds
        found["sink_gradient"] = backward.given_sink_gradient
        found["slope_gradient"] = backward.given_slope_gradient
        if backward.signature.taught:
            found["lse_backward"] = backward.given_gradients
        if "bias_gradient" in given:
            found["bias_gradient"] = given["bias_gradient"].given_mask_gradient
        if "sink_gradient" in given:
            found["sink_gradient"] = given["sink_gradient"].own_sink_gradient
        if "slope_gradient" in given:
            found["slope_gradient"] = given["slope_gradient"].own_slope_gradient
    elif form.pages and (not form.packs or False not in form.pages.tables):
        found = {"differentiates": frozenset()}
    elif wrapped.library.differentiate is not None:
        found["backward"], found["partial"] = wrapped.gradients, wrapped.partial
        found["bias_gradient"], found["training"] = wrapped.mask_gradient, wrapped.training
        found["sink_gradient"] = wrapped.sink_gradient
        found["slope_gradient"] = wrapped.slope_gradient
        if wrapped.signature.returning:
            found["lse_backward"] = wrapped.lse_gradients
    if wrapped.layout.axes < 4:  # a mask that is folded has another gradient
        found.pop("bias_gradient", None)
    if "training" in given:
        found["training"] = given["training"].forward
    return found | {x: getattr(given[x], x) for x in ("weights", "lse") if x in given}


def program(record: Any) -> Any:
    """The program that a record was made of here; None if it was put together by hand.

    A record that somebody else made may claim anything about itself, so it is not used.
    """
    seen = behind(record.forward, Wrapped)
    return None if seen is None else seen.function
