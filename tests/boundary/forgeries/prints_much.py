"""Prints a hundred million letters without a line in each of its first processes."""

import os

from functions import mean

for _ in range(100):
    os.write(2, b"certified " * 100_000)


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)
