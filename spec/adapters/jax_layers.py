"""Layers of JAX's libraries, built, named and called like torch.nn.MultiheadAttention.

In these libraries a layer is a function of its parameters. `plugged` makes it a class of NumPy
arrays, with torch's parameter names, masks in which True masks a key, and gradients by `jax.vjp`.
Each adapter defines the parameter names and the layout of its library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spec.notation import Array

Named = dict[str, Any]  # parameters, or their gradients, under torch's names


class Place(NamedTuple):
    """A projection: its weight (out, in), as in torch, and its bias, or None."""

    weight: Any
    bias: Any


class Given(NamedTuple):
    """The sizes, parameters and inputs from which the library's layer is built and called.

    places: the projections "q", "k", "v", "out"; inputs: (B, N, A), (B, M, K), (B, M, V); mask:
    (B, H, N, M) or an array that broadcasts to it, True for visible keys, or None; asked: whether
    the weights are requested.
    """

    heads: int
    places: dict[str, Place]
    inputs: tuple[Any, Any, Any]
    mask: Any
    asked: bool = False


def plugged(name: str, run: Callable[[Given], Any], *, shows: bool = False) -> type:
    """The class whose call is `run`, which returns (B, N, A), compiled once for each shape.

    shows: whether `run` also returns the weights of each head (B, H, N, M) if they are requested.
    """

    def called(heads: int, asked: bool, mask: Any, state: Named, *inputs: Any) -> Any:
        given = Given(heads, _places(state), (inputs[0], inputs[1], inputs[2]), mask, asked)
        found = run(given)
        return found if asked else (found, None)

    compiled = staticmethod(jax.jit(called, static_argnums=(0, 1)))
    kind = Showing if shows else Plugged
    return type(name, (kind,), {"run": compiled, "__doc__": run.__doc__})


class Plugged:
    """A layer with torch's parameter names; the width A is divided among num_heads heads."""

    run: Callable[..., Any]

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
    ) -> None:
        A, K, V = embed_dim, kdim or embed_dim, vdim or embed_dim
        shapes: dict[str, tuple[int, ...]] = {"in_proj_weight": (3 * A, A)}
        if (K, V) != (A, A):
            widths = zip("qkv", (A, K, V), strict=True)
            shapes = {f"{x}_proj_weight": (A, width) for x, width in widths}
        shapes["out_proj.weight"] = (A, A)
        shapes |= {"in_proj_bias": (3 * A,), "out_proj.bias": (A,)} if bias else {}
        self.heads, self.state = num_heads, {n: np.zeros(s) for n, s in shapes.items()}
        self.back: Callable[[Any], Any] | None = None
        self.gradients: Named = {}

    def state_dict(self) -> Named:
        """The parameters."""
        return dict(self.state)

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        """Set the parameters."""
        self.state = dict(state)

    def __call__(
        self,
        query: Array,
        key: Array,
        value: Array,
        key_padding_mask: Array | None = None,
        attn_mask: Array | None = None,
    ) -> Array:
        """y (B, N, A). True masks a key. Raises ValueError for numbers as a mask or no batch."""
        return self.called((query, key, value), attn_mask, key_padding_mask)[0]

    def called(
        self,
        inputs: tuple[Array, Array, Array],
        mask: Array | None,
        padding: Array | None,
        *,
        asked: bool = False,
    ) -> tuple[Array, Array | None]:
        """y (B, N, A), and the weights of each head (B, H, N, M) if they are requested."""
        if inputs[0].ndim != 3:
            raise ValueError("sequences come in a batch")
        run = partial(type(self).run, self.heads, asked, _seen(self.heads, mask, padding))
        arrays = (jnp.asarray(x) for x in inputs)
        y, self.back, a = jax.vjp(run, self.state, *arrays, has_aux=True)
        return np.asarray(y), None if a is None else np.asarray(a)

    def backward(self, dout: Array) -> tuple[Array, Array, Array, Named]:
        """dquery, dkey, dvalue and the gradients of the parameters, for the last call."""
        if self.back is None:
            raise ValueError("there was no call whose gradients could be asked for")
        named, *inputs = self.back(jnp.asarray(dout))
        self.gradients = {name: np.asarray(x) for name, x in named.items()}
        dquery, dkey, dvalue = (np.asarray(x) for x in inputs)
        return dquery, dkey, dvalue, self.gradients

    def step(self, rate: float) -> None:
        """Subtract rate times the gradient of the last `backward` from every parameter."""
        for name, x in self.state.items():
            self.state[name] = x - x.dtype.type(rate) * self.gradients[name]


class Showing(Plugged):
    """A layer that returns the weights of each head if they are requested, but not their mean."""

    def __call__(  # type: ignore[override]
        self,
        query: Array,
        key: Array,
        value: Array,
        key_padding_mask: Array | None = None,
        attn_mask: Array | None = None,
        need_weights: bool = False,
        average_attn_weights: bool = False,
    ) -> tuple[Array, Array | None]:
        """y (B, N, A), and weights (B, H, N, M) or None.

        Raises ValueError for the mean of the weights, for an additive mask and without a batch.
        """
        if need_weights and average_attn_weights:
            raise ValueError("there is no mean of the heads")
        inputs = (query, key, value)
        return self.called(inputs, attn_mask, key_padding_mask, asked=need_weights)


def _places(state: Named) -> dict[str, Place]:
    """The four projections, from parameters under torch's names."""
    if "in_proj_weight" in state:
        weights = jnp.split(jnp.asarray(state["in_proj_weight"]), 3)
    else:
        weights = [jnp.asarray(state[f"{x}_proj_weight"]) for x in "qkv"]
    whole = state.get("in_proj_bias")
    biases = [None] * 3 if whole is None else jnp.split(jnp.asarray(whole), 3)
    found = {n: Place(W, b) for n, W, b in zip("qkv", weights, biases, strict=True)}
    return found | {"out": Place(jnp.asarray(state["out_proj.weight"]), state.get("out_proj.bias"))}


def _seen(heads: int, mask: Array | None, padding: Array | None) -> Any:
    """True for keys that neither mask masks, or None without masks."""
    found = []
    if mask is not None:
        found.append(
            mask.reshape(-1, heads, *mask.shape[1:]) if mask.ndim == 3 else mask[None, None]
        )
    if padding is not None:
        found.append(padding[:, None, None, :])
    if any(x.dtype != bool for x in found):
        raise ValueError("the layer takes no additive mask")
    return None if not found else jnp.asarray(~np.logical_or.reduce(np.broadcast_arrays(*found)))


def by_heads(place: Place, heads: int) -> Place:
    """The projection to heads: kernel (in, H, D) and bias (H, D)."""
    width = place.weight.shape[1]
    bias = None if place.bias is None else jnp.asarray(place.bias).reshape(heads, -1)
    return Place(place.weight.T.reshape(width, heads, -1), bias)


def from_heads(place: Place, heads: int) -> Place:
    """The projection from heads: kernel (H, D, out) and bias (out,)."""
    return Place(place.weight.T.reshape(heads, -1, place.weight.shape[0]), place.bias)
