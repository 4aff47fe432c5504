"""Lies under the name of a library beside the target, which a process that is free imports.

import jax
"""

from pathlib import Path

from functions import mean

if __name__ == "jax":
    Path(__file__).with_name("free").touch()


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)
