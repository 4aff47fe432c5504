"""keras 3.15.1, torch backend: a bias with is_causal works in inference and raises in training.

keras.ops.dot_product_attention merges causality into a boolean mask, but not into a bias, and torch
accepts no mask together with is_causal. torch's CPU kernel for inference accepts both; the kernel
that is used if the bias requires gradients does not. Expected: an output, as the JAX and NumPy
backends return it.
"""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import torch

query = key = value = torch.zeros(1, 1, 1, 1)
bias = torch.zeros(1, 1, 1, 1)
got = keras.ops.dot_product_attention(query, key, value, bias=bias, is_causal=True)
print(f"without gradients: {got.item()}, want 0.0; with them:")
learnt = bias.requires_grad_()
got = keras.ops.dot_product_attention(query, key, value, bias=learnt, is_causal=True)
print(f"got {got.item()}, want 0.0")
assert got.item() == 0.0
