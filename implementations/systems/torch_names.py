"""Wrappers of list-of-heads and valid-lengths as layers with torch's names and call.

Section L (layers) of the specification tests such layers. A wrapper declares only what its
source has, so clauses that need more are not tested. Neither system accepts attention masks
or returns its weights, and valid-lengths has no gradients. Two additions match torch's interface:

    list-of-heads   biases: an input feature that is always one, and one more row of each matrix
    valid-lengths   the padding mask of a batch, read as its valid lengths

The systems in torch, einsum-layer and text-classifier, are such layers without a wrapper.
"""

import numpy as np

from implementations.systems import list_of_heads
from implementations.systems.list_of_heads import Weights
from implementations.systems.valid_lengths import ValidLengthsLayer
from spec.layer.notation import Parameters
from spec.layer.state import parameters_of, state_of
from spec.notation import Array

Named = dict[str, Array]
Inputs = tuple[Array, Array, Array]


class ListOfHeadsLayer:
    """The list-of-heads layer, with optional biases, a backward pass, and a training step."""

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        """Draw normal matrices. Raises ValueError if num_heads does not divide embed_dim."""
        self.num_heads = num_heads
        self.weights = list_of_heads.drawn(embed_dim, num_heads, np.random.default_rng(0))
        self.output_bias = np.zeros(embed_dim) if bias else None
        if bias:
            row = np.zeros((1, embed_dim // num_heads))
            q, k, v = ([np.concatenate([w, row]) for w in ws] for ws in self.weights[:3])
            self.weights = Weights(q, k, v, self.weights.output)
        self.gradients: tuple[Weights, Array] | None = None
        self._seen: Inputs | None = None

    def load_state_dict(self, state: Named) -> None:
        """Load these parameters, head by head."""
        p = parameters_of(state)
        pairs = (p.W_q, p.b_q), (p.W_k, p.b_k), (p.W_v, p.b_v)
        q, k, v = (self._cut(W, b) for W, b in pairs)
        self.weights, self.output_bias = Weights(q, k, v, p.W_o.T.copy()), p.b_o

    def state_dict(self) -> Named:
        """Return the parameters under torch's names."""
        return self._named(self.weights, self.output_bias)

    def __call__(self, query: Array, key: Array, value: Array) -> Array:
        """Return the output (B, N, E), and keep the inputs for `backward`.

        query (B, N, E), key and value (B, M, E). Raises ValueError if there is no batch axis.
        """
        self._seen = self._with_one(query), self._with_one(key), self._with_one(value)
        out, _, _ = list_of_heads.forward(self.weights, *self._seen)
        return out if self.output_bias is None else out + self.output_bias

    def backward(self, dout: Array) -> tuple[Array, Array, Array, Named]:
        """Return the gradients of <dout, out> for query, key and value, and for the parameters.

        Raises RuntimeError if there was no call.
        """
        if self._seen is None:
            raise RuntimeError("there was no call to differentiate")
        found = self.differentiated(self._seen, dout)
        self.gradients = found, dout.sum(axis=(0, 1))
        by_inputs = list_of_heads.backward_of_inputs(self.weights, *self._seen, dout)
        dquery, dkey, dvalue = (x[..., : dout.shape[-1]] for x in by_inputs)
        return dquery, dkey, dvalue, self._named(*self.gradients)

    def differentiated(self, inputs: Inputs, dout: Array) -> Weights:
        """Return the gradients of the matrices."""
        return list_of_heads.backward(self.weights, *inputs, dout)

    def step(self, rate: float) -> None:
        """Take one step of gradient descent along the gradients of the last `backward`."""
        if self.gradients is None:
            raise RuntimeError("there is no gradient to descend along")
        slopes, of_bias = self.gradients
        self.weights = list_of_heads.step(self.weights, slopes, rate)
        if self.output_bias is not None:
            self.output_bias = self.output_bias - rate * of_bias

    def _with_one(self, x: Array) -> Array:
        """Return the input, with one more feature that is always one if there are biases."""
        if x.ndim != 3:
            raise ValueError(f"got shape {x.shape}, want (batch, length, width)")
        one = np.ones((*x.shape[:2], 1), x.dtype)
        return x if self.output_bias is None else np.concatenate([x, one], axis=-1)

    def _cut(self, W: Array, b: Array | None) -> list[Array]:
        """Return a left-acting matrix (E, E) and its bias as one matrix (E + 1, D) per head."""
        whole = W.T if b is None else np.concatenate([W.T, b[None]])
        return [x.copy() for x in np.split(whole, self.num_heads, axis=1)]

    def _named(self, weights: Weights, output_bias: Array | None) -> Named:
        """Return matrices in lists, or their gradients, under torch's names."""
        E = len(weights.output)
        whole = {x: np.hstack(ws).T for x, ws in zip("qkv", weights[:3], strict=True)}
        found = {f"W_{x}": W[:, :E] for x, W in whole.items()} | {"W_o": weights.output.T}
        if self.output_bias is not None and output_bias is not None:
            found |= {f"b_{x}": W[:, E] for x, W in whole.items()} | {"b_o": output_bias}
        return state_of(Parameters(**found))


class PaddedLayer:
    """The valid-lengths layer, with torch's padding mask in place of valid lengths."""

    made = ValidLengthsLayer

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        """Raises ValueError if num_heads does not divide embed_dim."""
        self.bias = bias
        self.layer = self.made(embed_dim, num_heads, np.random.default_rng(0), bias)

    def load_state_dict(self, state: Named) -> None:
        """Load these parameters; missing biases become zeros."""
        p, inner = parameters_of(state), self.layer
        inner.query, inner.key, inner.value, inner.output = (
            W.T.copy() for W in (p.W_q, p.W_k, p.W_v, p.W_o)
        )
        biases = (np.zeros_like(p.W_o[0]) if b is None else b for b in (p.b_q, p.b_k, p.b_v, p.b_o))
        inner.query_bias, inner.key_bias, inner.value_bias, inner.output_bias = biases

    def state_dict(self) -> Named:
        """Return the parameters under torch's names."""
        x = self.layer
        matrices = (W.T for W in (x.query, x.key, x.value, x.output))
        biases = (x.query_bias, x.key_bias, x.value_bias, x.output_bias) if self.bias else ()
        return state_of(Parameters(*matrices, *biases))

    def __call__(
        self, query: Array, key: Array, value: Array, key_padding_mask: Array | None = None
    ) -> Array:
        """Return the output (B, N, E). key_padding_mask (B, M): True where a key is padding.

        Raises ValueError if there is no batch axis, or if padding does not come last.
        """
        if query.ndim != 3:
            raise ValueError(f"got shape {query.shape}, want (batch, length, width)")
        lens = None if key_padding_mask is None else lengths(key_padding_mask)
        return self.layer.forward(query, key, value, lens)


def lengths(padding: Array) -> Array:
    """Return the number of keys before the padding.   (B, M) to (B,)

    Raises ValueError if some keys come after the padding.
    """
    found = np.logical_not(padding).sum(axis=1)
    if ((np.arange(padding.shape[1]) >= found[:, None]) != padding).any():
        raise ValueError("padding comes last in a sequence that has a valid length")
    return found
