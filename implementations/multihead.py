"""A multi-head attention layer in NumPy, with a backward pass and a training step.

    y = [o_1 ... o_H] W_o^T + b_o,    o_h = attention(x W_q,h^T + b_q,h, ...)

(Vaswani et al. 2017, section 3.2.2). It has the constructor, state and call of torch's
`MultiheadAttention` with the batch first; True in a mask means masked. All heads are projected at
once, and `implementations.dense` computes attention. A call stores its inputs and intermediate
results for `backward`.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from implementations import dense
from spec.notation import Array

Named = dict[str, Array]
PLACES = ("q", "k", "v")


class Seen(NamedTuple):
    """The inputs and intermediate results of a call, for the backward pass."""

    inputs: tuple[Array, Array, Array]
    heads: tuple[Array, Array, Array]
    mask: Array | None
    context: Array


class MultiHead:
    """Attention between four projections; A = embed_dim is divided among num_heads heads.

    Raises ValueError if num_heads does not divide embed_dim, and for inputs, masks or a state of a
    wrong shape; the message has the given shape and the expected one.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
    ) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"embed_dim {embed_dim} is not divisible by num_heads {num_heads}")
        A, K, V = embed_dim, kdim or embed_dim, vdim or embed_dim
        self.width, self.heads, self.widths = A, num_heads, (A, K, V)
        self.training = True
        chance = np.random.default_rng(0)
        self.state: Named = {}
        for name, shape in self._shapes(bias).items():
            bound = 1 / np.sqrt(shape[-1]) if name.endswith("weight") else 0.0
            self.state[name] = chance.uniform(-bound, bound, shape)
        self.gradients: Named = {}
        self._seen: Seen | None = None

    # State

    def _shapes(self, bias: bool) -> dict[str, tuple[int, ...]]:
        A, (_, K, V) = self.width, self.widths
        found: dict[str, tuple[int, ...]] = {"in_proj_weight": (3 * A, A)}
        if (K, V) != (A, A):
            found = {f"{x}_proj_weight": (A, w) for x, w in zip(PLACES, self.widths, strict=True)}
        found["out_proj.weight"] = (A, A)
        return found | ({"in_proj_bias": (3 * A,), "out_proj.bias": (A,)} if bias else {})

    def state_dict(self) -> Named:
        """Return the parameters under the names of torch."""
        return dict(self.state)

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        """Load these parameters. Raises ValueError for other names or shapes."""
        want = self._shapes("in_proj_bias" in self.state)
        for name in (*want, *state):
            if name not in state or name not in want:
                where = "missing" if name in want else "not wanted"
                raise ValueError(f"{name} is {where}: want {', '.join(want)}")
            if state[name].shape != want[name]:
                raise ValueError(f"{name}: got shape {state[name].shape}, want {want[name]}")
        self.state = {name: np.array(state[name]) for name in want}

    def train(self, mode: bool = True) -> None:
        """Set the mode, which has no effect, because there is no dropout."""
        self.training = mode

    def _projections(self, named: Named) -> dict[str, tuple[Array, Array | None]]:
        """Return W and b of the projections of queries, keys and values."""
        if "in_proj_weight" in named:
            weights = np.split(named["in_proj_weight"], 3)
        else:
            weights = [named[f"{x}_proj_weight"] for x in PLACES]
        biases = np.split(named["in_proj_bias"], 3) if "in_proj_bias" in named else [None] * 3
        return dict(zip(PLACES, zip(weights, biases, strict=True), strict=True))

    # Forward

    def __call__(
        self,
        query: Array,
        key: Array,
        value: Array,
        key_padding_mask: Array | None = None,
        need_weights: bool = True,
        attn_mask: Array | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Array, Array | None]:
        """Return y (B, N, A), and weights (B, N, M), or (B, H, N, M) if they are not averaged.

        query (B, N, A), key (B, M, K), value (B, M, V), or all without B. key_padding_mask (B, M),
        attn_mask (N, M) or (B H, N, M): True means masked, a float is added.
        """
        batched = query.ndim == 3
        inputs = tuple(x if batched else x[None] for x in (query, key, value))
        padding = key_padding_mask
        if padding is not None and not batched:
            padding = padding[None]
        self._checked(*inputs)
        mask = self._mask(inputs, attn_mask, padding, is_causal)
        q, k, v = (
            self.split(project(x, W, b))
            for x, (W, b) in zip(inputs, self._projections(self.state).values(), strict=True)
        )
        context = self.merge(dense.attend(q, k, v, attn_mask=mask))
        self._seen = Seen((inputs[0], inputs[1], inputs[2]), (q, k, v), mask, context)
        y = project(context, self.state["out_proj.weight"], self.state.get("out_proj.bias"))
        a = dense.weights(q, k, v, attn_mask=mask) if need_weights else None
        if a is not None and average_attn_weights:
            a = a.mean(axis=1)
        return (y, a) if batched else (y[0], None if a is None else a[0])

    def _checked(self, *inputs: Array) -> None:
        for name, x, width in zip(("query", "key", "value"), inputs, self.widths, strict=True):
            if x.ndim != 3 or x.shape[2] != width:
                raise ValueError(f"{name}: got shape {x.shape}, want (B, length, {width})")

    def _mask(
        self, inputs: tuple[Array, ...], mask: Array | None, padding: Array | None, causal: bool
    ) -> Array | None:
        """Return all masks and biases as one array for attention, where True may attend."""
        B, N, M = len(inputs[0]), inputs[0].shape[1], inputs[1].shape[1]
        found = []
        if mask is not None:
            each = (B * self.heads, N, M)
            if mask.shape not in ((N, M), each):
                raise ValueError(f"attn_mask: got shape {mask.shape}, want {(N, M)} or {each}")
            found.append(mask.reshape(-1, self.heads if mask.ndim == 3 else 1, N, M))
        if padding is not None:
            if padding.shape != (B, M):
                raise ValueError(f"key_padding_mask: got shape {padding.shape}, want {(B, M)}")
            found.append(padding[:, None, None, :])
        if causal:
            found.append(np.triu(np.ones((1, 1, N, M), dtype=bool), 1))
        return joined(found)

    def split(self, x: Array) -> Array:
        """Return the heads: head h has columns hD to (h + 1)D.   (B, L, A) to (B, H, L, D)"""
        B, L, A = x.shape
        return x.reshape(B, L, self.heads, A // self.heads).swapaxes(1, 2)

    def merge(self, x: Array) -> Array:
        """Return the heads concatenated.   (B, H, L, D) to (B, L, A)"""
        B, H, L, D = x.shape
        return x.swapaxes(1, 2).reshape(B, L, H * D)

    # Backward

    def backward(self, dout: Array) -> tuple[Array, Array, Array, Named]:
        """Return dquery, dkey, dvalue, and the gradients of the parameters under their names.

        dout has the shape of the output of the last call. Raises ValueError if there was no call.
        """
        if self._seen is None:
            raise ValueError("there was no call whose gradients could be asked for")
        seen, dy = self._seen, dout if dout.ndim == 3 else dout[None]
        dC = dy @ self.state["out_proj.weight"]
        of_heads = dense.backward(self.split(dC), *seen.heads, attn_mask=seen.mask)
        wide = [self.merge(d) for d in of_heads]
        self.gradients = self._gathered(wide, seen, dy)
        weights = [W for W, _ in self._projections(self.state).values()]
        found = [d @ W for d, W in zip(wide, weights, strict=True)]
        dquery, dkey, dvalue = (d if dout.ndim == 3 else d[0] for d in found)
        return dquery, dkey, dvalue, self.gradients

    def _gathered(self, wide: list[Array], seen: Seen, dy: Array) -> Named:
        """Return dW = sum dy^T x and db = sum dy over all rows, under the parameter names."""
        of_weights = [outer(d, x) for d, x in zip(wide, seen.inputs, strict=True)]
        found = {"out_proj.weight": outer(dy, seen.context)}
        if "in_proj_weight" in self.state:
            found["in_proj_weight"] = np.concatenate(of_weights)
        else:
            found |= {f"{x}_proj_weight": d for x, d in zip(PLACES, of_weights, strict=True)}
        if "in_proj_bias" in self.state:
            found["in_proj_bias"] = np.concatenate([d.sum(axis=(0, 1)) for d in wide])
            found["out_proj.bias"] = dy.sum(axis=(0, 1))
        return found

    def step(self, rate: float) -> None:
        """Subtract rate times the gradient of the last `backward` from every parameter."""
        for name, x in self.state.items():
            self.state[name] = x - x.dtype.type(rate) * self.gradients[name]


def project(x: Array, W: Array, b: Array | None) -> Array:
    """Return x W^T + b.   (B, L, in), (out, in), (out) to (B, L, out)"""
    y = x @ W.T
    return y if b is None else y + b


def outer(dy: Array, x: Array) -> Array:
    """Return sum dy^T x over all rows of all batch elements.   (out, in)"""
    return dy.reshape(-1, dy.shape[-1]).T @ x.reshape(-1, x.shape[-1])


def joined(masks: list[Array]) -> Array | None:
    """Return the combination of masks, where True means masked, as one in which True may attend.

    Floats are added.
    """
    if not masks:
        return None
    if all(mask.dtype == bool for mask in masks):
        whole = masks[0]
        for mask in masks[1:]:
            whole = whole | mask
        return ~whole
    added = [np.where(m, -np.inf, 0.0) if m.dtype == bool else m for m in masks]
    return sum(added[1:], added[0])
