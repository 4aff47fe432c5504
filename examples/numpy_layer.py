"""A multi-head layer in NumPy: self-attention with one input, described in a file beside it.

    attention-spec certify examples/numpy_layer.py:SelfAttention --description examples/numpy_layer.toml --profile quick

Expect "SelfAttention: certified". `numpy_layer.toml` says how the layer is built and which matrix
each parameter holds. The tool loads parameters by `load_state_dict`, and asks `backward` for the
gradients of the last call.
"""

import numpy as np


class SelfAttention:
    """Causal self-attention over (B, N, A) with H heads."""

    def __init__(self, width, heads, bias=True):
        self.heads = heads
        rng = np.random.default_rng(0)
        self.state = {"qkv": rng.normal(size=(3 * width, width)), "out": np.eye(width)}
        if bias:
            self.state |= {"qkv_bias": np.zeros(3 * width), "out_bias": np.zeros(width)}

    def state_dict(self):
        return dict(self.state)

    def load_state_dict(self, state):
        self.state = {name: np.array(state[name]) for name in self.state}

    def __call__(self, x):
        q, k, v = self._split(x @ self.state["qkv"].T + self.state.get("qkv_bias", 0))
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1], dtype=x.dtype)
        visible = np.tri(x.shape[1], dtype=bool)
        scores = np.where(visible, scores, -np.inf).astype(x.dtype)
        e = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
        a = e / e.sum(-1, keepdims=True)
        context = self._merge(a @ v)
        self.seen = x, q, k, v, a, context
        return context @ self.state["out"].T + self.state.get("out_bias", 0)

    def backward(self, dout):
        x, q, k, v, a, context = self.seen
        dcontext = self._heads(dout @ self.state["out"])
        da = dcontext @ np.swapaxes(v, -1, -2)
        ds = a * (da - (da * a).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1], dtype=x.dtype)
        parts = ds @ k, np.swapaxes(ds, -1, -2) @ q, np.swapaxes(a, -1, -2) @ dcontext
        dqkv = np.concatenate([self._merge(part) for part in parts], axis=-1)
        gradients = {"qkv": _outer(dqkv, x), "out": _outer(dout, context)}
        if "qkv_bias" in self.state:
            gradients |= {"qkv_bias": dqkv.sum((0, 1)), "out_bias": dout.sum((0, 1))}
        return dqkv @ self.state["qkv"], gradients

    def _split(self, qkv):
        return [self._heads(part) for part in np.split(qkv, 3, axis=-1)]

    def _heads(self, x):
        return x.reshape(*x.shape[:2], self.heads, -1).swapaxes(1, 2)

    def _merge(self, x):
        batch, heads, length, width = x.shape
        return x.swapaxes(1, 2).reshape(batch, length, heads * width)


def _outer(dy, x):
    return np.einsum("bno,bni->oi", dy, x)
