"""paddle.nn.MultiHeadAttention, built, loaded and called like torch's layer.

Paddle's weights have their inputs first, (in, out), and its masks are (B, H, N, M), where True is
visible. The adapter transposes the weights and reshapes the masks. Gradients are those of Paddle.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import paddle
from paddle import Tensor

from spec.notation import Array

paddle.set_device("cpu")
PLACES = ("q", "k", "v")
Named = dict[str, Array]


class MultiHead:
    """Paddle's layer of width A = embed_dim; raises the exceptions of Paddle."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
    ) -> None:
        self.heads, self.joined = num_heads, {kdim or embed_dim, vdim or embed_dim} == {embed_dim}
        biases = None if bias else False
        self.layer = paddle.nn.MultiHeadAttention(
            embed_dim, num_heads, kdim=kdim, vdim=vdim, bias_attr=biases
        )
        self.found: tuple[list[Tensor], Tensor] | None = None
        self.gradients: Named = {}

    def state_dict(self) -> Named:
        """The parameters under torch's names."""
        return self._told({name: x.numpy() for name, x in self.layer.named_parameters()})

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        """Set the parameters, and compute in their dtype."""
        theirs = self._theirs(state)
        self.layer.to(dtype=next(iter(theirs.values())).dtype.name)
        for name, x in self.layer.named_parameters():
            x.set_value(theirs[name])

    def train(self, mode: bool = True) -> None:
        """Set the mode. There is no dropout, so both modes compute the same."""
        (self.layer.train if mode else self.layer.eval)()

    def __call__(
        self, query: Array, key: Array, value: Array, attn_mask: Array | None = None
    ) -> tuple[Array, None]:
        """y (B, N, A) for query (B, N, A), key (B, M, K), value (B, M, V).

        attn_mask (N, M) or (B H, N, M): True is visible; numbers are added.
        """
        if attn_mask is not None and attn_mask.ndim == 3:
            attn_mask = attn_mask.reshape(-1, self.heads, *attn_mask.shape[1:])
        given = [paddle.to_tensor(np.ascontiguousarray(x)) for x in (query, key, value)]
        for x in given:
            x.stop_gradient = False
        mask = None if attn_mask is None else paddle.to_tensor(np.ascontiguousarray(attn_mask))
        out = self.layer(*given, attn_mask=mask)
        self.found = given, out
        return out.numpy(), None

    def backward(self, dout: Array) -> tuple[Array, Array, Array, Named]:
        """dquery, dkey, dvalue, and the gradients of the parameters under torch's names."""
        if self.found is None:
            raise ValueError("there was no call whose gradients could be asked for")
        given, out = self.found
        names, parameters = zip(*self.layer.named_parameters(), strict=True)
        wanted = [*given, *parameters]
        found = paddle.grad(out, wanted, paddle.to_tensor(dout), retain_graph=True)
        dq, dk, dv, *others = (x.numpy() for x in found)
        self.gradients = self._told(dict(zip(names, others, strict=True)))
        return dq, dk, dv, self.gradients

    def step(self, rate: float) -> None:
        """Subtract rate times the gradient of the last `backward` from every parameter."""
        state = self.state_dict()
        moved = {name: x - x.dtype.type(rate) * self.gradients[name] for name, x in state.items()}
        self.load_state_dict(moved)

    def _told(self, theirs: Named) -> Named:
        """Paddle's parameters with torch's names and axes."""
        turned = {name: x.T if x.ndim == 2 else x for name, x in theirs.items()}
        found = {name: x for name, x in turned.items() if name.startswith("out")}
        weights = [turned[f"{x}_proj.weight"] for x in PLACES]
        if self.joined:
            found["in_proj_weight"] = np.concatenate(weights)
        else:
            found |= {f"{x}_proj_weight": W for x, W in zip(PLACES, weights, strict=True)}
        if "q_proj.bias" in turned:
            found["in_proj_bias"] = np.concatenate([turned[f"{x}_proj.bias"] for x in PLACES])
        return found

    def _theirs(self, told: Mapping[str, Array]) -> Named:
        """torch's parameters with Paddle's names and axes."""
        found = {name: told[name] for name in told if name.startswith("out")}
        if self.joined:
            parts = np.split(told["in_proj_weight"], 3)
        else:
            parts = [told[f"{x}_proj_weight"] for x in PLACES]
        found |= {f"{x}_proj.weight": W for x, W in zip(PLACES, parts, strict=True)}
        if "in_proj_bias" in told:
            biases = np.split(told["in_proj_bias"], 3)
            found |= {f"{x}_proj.bias": b for x, b in zip(PLACES, biases, strict=True)}
        return {name: np.ascontiguousarray(x.T if x.ndim == 2 else x) for name, x in found.items()}


# A boolean mask adds -1e9; a bias of -inf is added unchanged.
MultiHead.conventions = {  # type: ignore[attr-defined]
    **{"mask-means": "attend", "fully-masked": "uniform", "fully-masked-bias": "nan"}
}
