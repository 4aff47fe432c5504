"""A multi-head self-attention layer in NumPy, with parameter names of its own.

    attention-spec certify examples/numpy_layer.py:SelfAttention --description examples/numpy_layer.toml --profile quick

Expect "SelfAttention: certified (quick)" and exit code 0 after about 10 seconds. `numpy_layer.toml`
says how the layer is built, and which matrix each parameter holds. The tool needs of a layer:

* a constructor; the tool builds a new layer for each problem
* `state_dict` and `load_state_dict`; the loaded arrays have the format that is tested
* a call that returns the output
* `backward(dout)`, optional: the gradients of the input and of every parameter, for the last call

The report lists inputs without a batch axis as "unsupported": they raise an exception, which is no
failure. To see a failure, write "W_k W_q W_v" in `numpy_layer.toml` and run the command again.
"""

import numpy as np


class SelfAttention:
    """Causal self-attention over inputs (B, N, width); each head has width // heads columns."""

    def __init__(self, width, heads, bias=True):
        self.heads = heads
        rng = np.random.default_rng(0)
        self.state = {
            "qkv": rng.normal(size=(3 * width, width)) / np.sqrt(width),
            "out": rng.normal(size=(width, width)) / np.sqrt(width),
        }
        if bias:
            self.state |= {"qkv_bias": np.zeros(3 * width), "out_bias": np.zeros(width)}

    def state_dict(self):
        return dict(self.state)

    def load_state_dict(self, state):
        self.state = {name: np.array(state[name]) for name in self.state}

    def __call__(self, x):
        parts = np.split(x @ self.state["qkv"].T + self.state.get("qkv_bias", 0), 3, axis=-1)
        q, k, v = (self._heads(part) for part in parts)
        scores = q @ np.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5
        scores = np.where(np.tri(x.shape[1], dtype=bool), scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
        a = e / e.sum(-1, keepdims=True)
        context = self._merged(a @ v)
        self.seen = x, q, k, v, a, context  # what `backward` needs
        return context @ self.state["out"].T + self.state.get("out_bias", 0)

    def backward(self, dout):
        """Return dx and the gradient of each parameter, under the names of `state_dict`."""
        x, q, k, v, a, context = self.seen
        dcontext = self._heads(dout @ self.state["out"])
        da = dcontext @ np.swapaxes(v, -1, -2)
        ds = a * (da - (da * a).sum(-1, keepdims=True)) * q.shape[-1] ** -0.5
        parts = ds @ k, np.swapaxes(ds, -1, -2) @ q, np.swapaxes(a, -1, -2) @ dcontext
        dqkv = np.concatenate([self._merged(part) for part in parts], axis=-1)
        gradients = {"qkv": _outer(dqkv, x), "out": _outer(dout, context)}
        if "qkv_bias" in self.state:
            gradients |= {"qkv_bias": dqkv.sum((0, 1)), "out_bias": dout.sum((0, 1))}
        return dqkv @ self.state["qkv"], gradients

    def _heads(self, x):
        """(B, N, width) to (B, heads, N, width // heads)."""
        return x.reshape(*x.shape[:2], self.heads, -1).swapaxes(1, 2)

    def _merged(self, x):
        """(B, heads, N, D) to (B, N, heads * D)."""
        batch, heads, length, width = x.shape
        return x.swapaxes(1, 2).reshape(batch, length, heads * width)


def _outer(dy, x):
    """The gradient of W, where y = x W^T: summed over batch and positions."""
    return np.einsum("bno,bni->oi", dy, x)
