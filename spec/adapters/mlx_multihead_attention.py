"""mlx.nn.MultiHeadAttention, built, loaded and called like torch's layer.

Its masks are (B, H, N, M), where True is visible. Gradients are those of MLX.
"""

from __future__ import annotations

from collections.abc import Mapping

import mlx.core as mx
import numpy as np
from mlx import nn
from mlx.utils import tree_flatten, tree_unflatten

from spec.notation import Array

FORMATS = {"float64": mx.float64, "float32": mx.float32, "float16": mx.float16, "bool": mx.bool_}
PLACES = {"q": "query_proj", "k": "key_proj", "v": "value_proj"}
Named = dict[str, Array]


class MultiHead:
    """MLX's layer of width A = embed_dim; raises the exceptions of MLX."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
    ) -> None:
        self.heads, self.joined = num_heads, {kdim or embed_dim, vdim or embed_dim} == {embed_dim}
        self.layer = nn.MultiHeadAttention(
            embed_dim,
            num_heads,
            key_input_dims=kdim or embed_dim,
            value_input_dims=vdim or embed_dim,
            bias=bias,
        )
        self.seen: tuple[list[mx.array], mx.array | None] | None = None
        self.gradients: Named = {}

    def state_dict(self) -> Named:
        """The parameters under torch's names."""
        return self._told({n: np.array(x) for n, x in tree_flatten(self.layer.parameters())})

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        """Set the parameters, and compute in their dtype."""
        theirs = [(name, _array(x)) for name, x in self._theirs(state).items()]
        self.layer.update(tree_unflatten(theirs))

    def train(self, mode: bool = True) -> None:
        """Set the mode. There is no dropout, so both modes compute the same."""
        self.layer.train(mode)

    def __call__(
        self, query: Array, key: Array, value: Array, attn_mask: Array | None = None
    ) -> tuple[Array, None]:
        """y (B, N, A) for query (B, N, A), key (B, M, K), value (B, M, V).

        attn_mask (N, M) or (B H, N, M): True is visible; numbers are added.
        """
        if attn_mask is not None and attn_mask.ndim == 3:
            attn_mask = attn_mask.reshape(-1, self.heads, *attn_mask.shape[1:])
        mask = None if attn_mask is None else _array(attn_mask)
        self.seen = [_array(x) for x in (query, key, value)], mask
        return np.array(self.layer(*self.seen[0], mask=mask)), None

    def backward(self, dout: Array) -> tuple[Array, Array, Array, Named]:
        """dquery, dkey, dvalue, and the gradients of the parameters under torch's names."""
        if self.seen is None:
            raise ValueError("there was no call whose gradients could be asked for")
        given, mask = self.seen
        names, parameters = zip(*tree_flatten(self.layer.parameters()), strict=True)

        def run(*arrays: mx.array) -> mx.array:
            self.layer.update(tree_unflatten(list(zip(names, arrays[3:], strict=True))))
            return self.layer(*arrays[:3], mask=mask)

        _, found = mx.vjp(run, [*given, *parameters], [_array(dout)])
        self.layer.update(tree_unflatten(list(zip(names, parameters, strict=True))))
        dq, dk, dv, *others = (np.array(x) for x in found)
        self.gradients = self._told(dict(zip(names, others, strict=True)))
        return dq, dk, dv, self.gradients

    def step(self, rate: float) -> None:
        """Subtract rate times the gradient of the last `backward` from every parameter."""
        state = self.state_dict()
        moved = {name: x - x.dtype.type(rate) * self.gradients[name] for name, x in state.items()}
        self.load_state_dict(moved)

    def _told(self, theirs: Named) -> Named:
        """MLX's parameters under torch's names."""
        found = {name: x for name, x in theirs.items() if name.startswith("out")}
        weights = [theirs[f"{x}.weight"] for x in PLACES.values()]
        if self.joined:
            found["in_proj_weight"] = np.concatenate(weights)
        else:
            found |= {f"{x}_proj_weight": W for x, W in zip(PLACES, weights, strict=True)}
        if "query_proj.bias" in theirs:
            biases = [theirs[f"{x}.bias"] for x in PLACES.values()]
            found["in_proj_bias"] = np.concatenate(biases)
        return found

    def _theirs(self, told: Mapping[str, Array]) -> Named:
        """torch's parameters under MLX's names."""
        found = {name: told[name] for name in told if name.startswith("out")}
        if self.joined:
            parts = np.split(told["in_proj_weight"], 3)
        else:
            parts = [told[f"{x}_proj_weight"] for x in PLACES]
        found |= {f"{x}.weight": W for x, W in zip(PLACES.values(), parts, strict=True)}
        if "in_proj_bias" in told:
            biases = np.split(told["in_proj_bias"], 3)
            found |= {f"{x}.bias": b for x, b in zip(PLACES.values(), biases, strict=True)}
        return found


def _array(x: Array) -> mx.array:
    """A NumPy array as an MLX array; MLX keeps float64 only if the dtype is given."""
    return mx.array(np.ascontiguousarray(x), dtype=FORMATS[x.dtype.name])


# Boolean masks set scores to a finite number; a bias of -inf is added unchanged.
MultiHead.conventions = {  # type: ignore[attr-defined]
    **{"mask-means": "attend", "fully-masked": "uniform", "fully-masked-bias": "nan"}
}
