"""The valid-lengths system: NumPy, padded sequences, and heads folded into the batch.

    fold     (B, L, E) -> (B, L, H, D) -> (B, H, L, D) -> (B H, L, D),   D = E / H
    scores   q k^T / sqrt(D), and -inf at every key j >= valid_len
    unfold   the inverse of fold, then times Wo

Matrices (E, E) act on the right, and biases are optional. Each sequence has a valid length,
repeated for every head: the number of its tokens before the padding.

In a sequence of valid length 0, all queries are fully masked. They get zeros before the last
projection. The source publishes NaN there, from -inf - (-inf):
`published_faults.softmax_of_nothing_is_nan` keeps it. The source publishes the shape (2, 4, 100)
for a width of 100, 5 heads, 4 queries, 6 keys and valid lengths (3, 2). It describes, without
code, the position-wise feed-forward network max(0, x W1 + b1) W2 + b2 (Vaswani et al. 2017,
section 3.3). Its layer has a dropout argument that it never uses; this layer has none.
"""

import numpy as np

from spec.notation import Array


def fold(x: Array, H: int) -> Array:
    """Turn each head into a separate sequence.   (B, L, E) to (B H, L, D)"""
    B, L, E = x.shape
    return x.reshape(B, L, H, E // H).transpose(0, 2, 1, 3).reshape(B * H, L, E // H)


def unfold(x: Array, H: int) -> Array:
    """Concatenate the heads again, the inverse of `fold`.   (B H, L, D) to (B, L, E)"""
    BH, L, D = x.shape
    return x.reshape(BH // H, H, L, D).transpose(0, 2, 1, 3).reshape(BH // H, L, H * D)


def visible(valid_lens: Array, M: int) -> Array:
    """Return True at the keys before the valid length.   (B,) to (B, 1, M)"""
    return (np.arange(M) < valid_lens[:, None])[:, None, :]


def softmax(s: Array) -> Array:
    """Return exp(s_j) / sum_j exp(s_j) along the last axis; zero if every score is -inf."""
    top = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isneginf(top), 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def scores(q: Array, k: Array, seen: Array | None) -> Array:
    """Return q k^T / sqrt(D), and -inf where a key is masked.   (B H, N, M)"""
    with np.errstate(over="ignore", invalid="ignore"):  # a masked key may hold anything
        s = q @ k.swapaxes(-1, -2) / np.sqrt(q.dtype.type(q.shape[-1]))
    return s if seen is None else np.where(seen, s, -np.inf).astype(s.dtype)


class ValidLengthsLayer:
    """Multi-head attention over the valid part of every sequence."""

    softmax = staticmethod(softmax)

    def __init__(
        self, num_hiddens: int, num_heads: int, chance: np.random.Generator, bias: bool = False
    ) -> None:
        """Draw every number from U[0, 1), as the source does.

        Raises ValueError if num_heads does not divide num_hiddens.
        """
        if num_hiddens % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {num_hiddens}")
        self.num_heads = num_heads
        shape = num_hiddens, num_hiddens
        self.query, self.key, self.value, self.output = (chance.random(shape) for _ in range(4))
        biases = chance.random((4, num_hiddens)) if bias else np.zeros((4, num_hiddens))
        self.query_bias, self.key_bias, self.value_bias, self.output_bias = biases

    def forward(
        self, queries: Array, keys: Array, values: Array, valid_lens: Array | None = None
    ) -> Array:
        """Return the output (B, N, E) for queries (B, N, E), keys and values (B, M, E).

        valid_lens: (B,); keys at this position and later are masked. None masks nothing.
        Raises ValueError if valid_lens has another shape.
        """
        seen = None
        if valid_lens is not None:
            if valid_lens.shape != queries.shape[:1]:
                raise ValueError(f"valid_lens: got {valid_lens.shape}, want {queries.shape[:1]}")
            seen = visible(np.repeat(valid_lens, self.num_heads), keys.shape[1])
        q = fold(queries @ self.query + self.query_bias, self.num_heads)
        k = fold(keys @ self.key + self.key_bias, self.num_heads)
        v = fold(values @ self.value + self.value_bias, self.num_heads)
        joined = unfold(self.softmax(scores(q, k, seen)) @ v, self.num_heads)
        return joined @ self.output + self.output_bias


def feed_forward(
    x: Array, first: Array, first_bias: Array, second: Array, second_bias: Array
) -> Array:
    """Return max(0, x W1 + b1) W2 + b2, each position separately.   (B, L, E) to (B, L, E)

    first (E, F), first_bias (F,), second (F, E), second_bias (E,).
    """
    return np.maximum(x @ first + first_bias, 0) @ second + second_bias


def weights(query: Array, key: Array, value: Array, attn_mask: Array | None = None) -> Array:  # noqa: ARG001
    """Return the weights of every head.   (B, H, N, M)

    Raises TypeError for an additive mask.
    """
    (B, H, N, _), M = query.shape, key.shape[2]
    if attn_mask is None:
        seen = None
    elif attn_mask.dtype != bool:
        raise TypeError("valid lengths hide keys, and add nothing to the scores of others")
    else:
        seen = np.broadcast_to(attn_mask, (B, H, N, M)).reshape(B * H, N, M)
    q, k = (x.reshape(B * H, *x.shape[2:]) for x in (query, key))
    return softmax(scores(q, k, seen)).reshape(B, H, N, M)


def attend(query: Array, key: Array, value: Array, attn_mask: Array | None = None) -> Array:
    """Return the attention of folded heads, without projections.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).
    attn_mask: True where a query may attend to a key; valid lengths are such a mask.
    """
    return weights(query, key, value, attn_mask) @ value


vars(attend).update(weights=weights)
