"""Layers of JAX's libraries, built, named and called like torch.nn.MultiheadAttention.

A layer there is a function of its parameters. `plugged` makes of it a class of NumPy arrays, with
the parameters under torch's names, masks in which True forbids, and gradients by `jax.vjp`; what
the parameters are called in the library, and how they are laid out, each adapter says itself.
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
    """A projection: its weight (out, in), as torch has it, and its bias, if there is one."""

    weight: Any
    bias: Any


class Given(NamedTuple):
    """What a layer is made for and told: the library's own layer is built from it and called.

    places: "q", "k", "v", "out"; inputs: (B, N, A), (B, M, K), (B, M, V); mask: (B, H, N, M) or
    what broadcasts to it, True where a query may attend, or None. asked: for the weights as well.
    """

    heads: int
    places: dict[str, Place]
    inputs: tuple[Any, Any, Any]
    mask: Any
    asked: bool = False


def plugged(name: str, run: Callable[[Given], Any], *, shows: bool = False) -> type:
    """The class whose call is `run`, which returns (B, N, A), compiled once for each shape.

    shows: that it returns the weights of each head (B, H, N, M) as well, where they are asked for.
    """

    def called(heads: int, asked: bool, mask: Any, state: Named, *inputs: Any) -> Any:
        given = Given(heads, _places(state), (inputs[0], inputs[1], inputs[2]), mask, asked)
        found = run(given)
        return found if asked else (found, None)

    compiled = staticmethod(jax.jit(called, static_argnums=(0, 1)))
    kind = Showing if shows else Plugged
    return type(name, (kind,), {"run": compiled, "__doc__": run.__doc__})


class Plugged:
    """A layer with torch's names; A is divided among num_heads heads."""

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
        """Take these parameters."""
        self.state = dict(state)

    def __call__(
        self,
        query: Array,
        key: Array,
        value: Array,
        key_padding_mask: Array | None = None,
        attn_mask: Array | None = None,
    ) -> Array:
        """y (B, N, A). True in a mask forbids. Raises ValueError: a mask of numbers, no batch."""
        return self.called((query, key, value), attn_mask, key_padding_mask)[0]

    def called(
        self,
        inputs: tuple[Array, Array, Array],
        mask: Array | None,
        padding: Array | None,
        *,
        asked: bool = False,
    ) -> tuple[Array, Array | None]:
        """y (B, N, A), and the weights of each head (B, H, N, M) if they are asked for."""
        if inputs[0].ndim != 3:
            raise ValueError("texts come in a batch")
        run = partial(type(self).run, self.heads, asked, _seen(self.heads, mask, padding))
        arrays = (jnp.asarray(x) for x in inputs)
        y, self.back, a = jax.vjp(run, self.state, *arrays, has_aux=True)
        return np.asarray(y), None if a is None else np.asarray(a)

    def backward(self, dout: Array) -> tuple[Array, Array, Array, Named]:
        """dquery, dkey, dvalue, and the gradients of the parameters, of the last call."""
        if self.back is None:
            raise ValueError("there was no call whose gradients could be asked for")
        named, *inputs = self.back(jnp.asarray(dout))
        self.gradients = {name: np.asarray(x) for name, x in named.items()}
        dquery, dkey, dvalue = (np.asarray(x) for x in inputs)
        return dquery, dkey, dvalue, self.gradients

    def step(self, rate: float) -> None:
        """Take rate times the gradient of the last `backward` from every parameter."""
        for name, x in self.state.items():
            self.state[name] = x - x.dtype.type(rate) * self.gradients[name]


class Showing(Plugged):
    """A layer that returns the weights of each head where they are asked for, and no mean."""

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
        """y (B, N, A), and weights (B, H, N, M) or None. Raises ValueError: a mean, as above."""
        if need_weights and average_attn_weights:
            raise ValueError("there is no mean of the heads")
        inputs = (query, key, value)
        return self.called(inputs, attn_mask, key_padding_mask, asked=need_weights)


def _places(state: Named) -> dict[str, Place]:
    """The four projections of parameters under torch's names."""
    if "in_proj_weight" in state:
        weights = jnp.split(jnp.asarray(state["in_proj_weight"]), 3)
    else:
        weights = [jnp.asarray(state[f"{x}_proj_weight"]) for x in "qkv"]
    whole = state.get("in_proj_bias")
    biases = [None] * 3 if whole is None else jnp.split(jnp.asarray(whole), 3)
    found = {n: Place(W, b) for n, W, b in zip("qkv", weights, biases, strict=True)}
    return found | {"out": Place(jnp.asarray(state["out_proj.weight"]), state.get("out_proj.bias"))}


def _seen(heads: int, mask: Array | None, padding: Array | None) -> Any:
    """What two masks that forbid leave to be seen, or None."""
    found = []
    if mask is not None:
        found.append(
            mask.reshape(-1, heads, *mask.shape[1:]) if mask.ndim == 3 else mask[None, None]
        )
    if padding is not None:
        found.append(padding[:, None, None, :])
    if any(x.dtype != bool for x in found):
        raise ValueError("there is no mask of numbers to add")
    return None if not found else jnp.asarray(~np.logical_or.reduce(np.broadcast_arrays(*found)))


def by_heads(place: Place, heads: int) -> Place:
    """A projection to heads: kernel (in, H, D) and bias (H, D)."""
    width = place.weight.shape[1]
    bias = None if place.bias is None else jnp.asarray(place.bias).reshape(heads, -1)
    return Place(place.weight.T.reshape(width, heads, -1), bias)


def from_heads(place: Place, heads: int) -> Place:
    """The projection from heads: kernel (H, D, out) and bias (out,)."""
    return Place(place.weight.T.reshape(heads, -1, place.weight.shape[0]), place.bias)
