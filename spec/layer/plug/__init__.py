"""A class of layers plugged in."""

from collections.abc import Callable, Mapping
from typing import Any

from spec.backends import known, library, likely
from spec.backends.calling import behind, named
from spec.backends.library import Elsewhere, Unsuitable, name_of
from spec.layer.plug.described import Description, Form, placed
from spec.layer.plug.instances import class_of, said, sizes_of, usable
from spec.layer.plug.layers import WrappedLayer
from spec.layer.plug.options import ADVICE
from spec.layer.record import SIZED, Layer
from spec.runner.find import traits
from spec.runner.inference import NAMES
from spec.subject import not_offered

STORING = ("update", "append")  # methods of caches that leave the attending to the model
LAYERED = ("torch", "numpy")  # the libraries that a layer may be written in


def layer(
    build: Callable[..., Any],
    *,
    names: Mapping[str, str] | None = None,
    make: Callable[..., Any] | None = None,
    inputs: int = 3,
    causal: str = "optional",
    rotary: str = "none",
    masks: Mapping[str, str] | None = None,
    given: Mapping[str, Callable[..., Any]] | None = None,
    name: str | None = None,
    backend: str | None = None,
    device: str = "cpu",
    conventions: Mapping[str, str] | None = None,
    dtypes: tuple[str, ...] | None = None,
    origin: str = "",
) -> Layer:
    """The record of a class that is built and called like `torch.nn.MultiheadAttention`.

    An object of such a class is tested only on problems of its sizes (`instances`).

    Other classes are described by: names, of its parameters, each with those of ours that stand in
    it, as {"c_attn.weight": "W_q W_k W_v"}; one that has no place for W_o is completed by an output
    projection. make(A, H, bias): the layer; of G too, if heads may share keys. inputs: 3, or 1
    for self-attention. causal: "always", or "optional". rotary: "halves" or "interleaved", if
    the layer rotates queries and keys itself. masks, given: further arguments of a call
    (`described`).
    Raises Unsuitable: a description that makes no sense, an unknown backend or dtype, or one
    that has no layers.
    """
    _called(build)
    sizes, instance = sizes_of(build), None
    usable(build, sizes)
    if sizes:
        instance, build = build, class_of(build)
    forms = {name: Form.of(text) for name, text in (masks or {}).items()}
    told = Description(placed(names), make, inputs, forms, given or {})
    own = {}
    for word, convention, value in (("causal", "causality", causal), ("rotary", "rotary", rotary)):
        usual, *others = Layer.choices[convention]
        if value not in (usual, *others):
            raise Unsuitable(f"{word} is {value!r}, want {usual} or {' or '.join(others)}")
        if value != usual:
            own[convention] = value
    written_in = backend or likely(build)[0]
    if written_in in NAMES and written_in not in LAYERED:
        how = "a class of NumPy arrays, as in docs/layer.md"
        raise Unsuitable(f"layers of {written_in} need an adapter: {how}")
    arrays = library(written_in, device, build)
    if not told.complete and arrays.name != "torch":
        raise Unsuitable("names: W_o has no place, and only layers of torch are completed")
    wrapped = WrappedLayer(build, arrays, told=told, instance=instance)
    title = name or name_of(build)
    alone = [f"an instance: only problems with {said(sizes)} are tested"] if sizes else []
    differentiated = arrays.differentiate is not None or hasattr(build, "backward")
    return Layer(
        name=title if told.complete else f"{title}, with an output projection",
        forward=wrapped.forward,
        weights=wrapped.weights if "need_weights" in wrapped.takes else not_offered,
        backward=wrapped.backward if differentiated else not_offered,
        step=wrapped.step if arrays.name == "torch" or hasattr(build, "step") else not_offered,
        state=wrapped.state,
        sequence=wrapped.sequence,
        call=wrapped.watched,
        answers=wrapped.kinds,
        differentiates=wrapped.kinds,
        multiples=dict(zip(SIZED, sizes.values(), strict=True)) if sizes else {},
        dtypes=known(dtypes or ("float64", "float32"), arrays),
        conventions=own | dict(conventions or getattr(build, "conventions", {})),
        origin=origin,
        notes=(*alone, *named(wrapped.unused, ADVICE)),
    )


def program(record: Any) -> Any:
    """The program that a record was made of here; None if it was put together by hand.

    A record that somebody else made may claim anything about itself, so it is not used.
    """
    seen = behind(record.forward, WrappedLayer)
    return None if seen is None else seen.build


def _called(build: Any) -> None:
    """Raises Unsuitable: a class that is not called as a layer is."""
    if not isinstance(build, type):
        return
    has = build.traits if isinstance(build, Elsewhere) else traits(build)
    if "autograd" in has:
        how = f"name a function that calls {build.__name__}.apply(query, key, value)"
        raise Unsuitable(f"{build.__name__} is a torch.autograd.Function: {how}")
    if "called" not in has:
        if stores := next((x for x in STORING if hasattr(build, x)), ""):
            how = "write a class with extend(query, key, value) around it: docs/cache.md has one"
            raise Unsuitable(f"{build.__name__} stores keys and values ({stores}): {how}")
        others = "a layer has one of them, a cache has extend(query, key, value) (docs/cache.md)"
        raise Unsuitable(f"{build.__name__} has neither forward nor __call__: {others}")
