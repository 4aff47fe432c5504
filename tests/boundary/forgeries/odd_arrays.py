"""Returns by turns objects, records, swapped bytes, dates, no axes, texts, masked arrays."""

import itertools

import numpy as np

from functions import mean

turn = itertools.count()
named = np.dtype([("x" * 100_000, "f4"), ("y", "O")])
lying = np.dtype("f4", metadata={"dtype": "float32"})


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    x = mean(query, key, value)
    made = [
        lambda: x.astype(object),
        lambda: np.zeros(x.shape, named),
        lambda: x.astype(">f4"),
        lambda: x.astype("datetime64[s]"),
        lambda: np.array(1.0, np.float32),
        lambda: x.astype(str),
        lambda: np.ma.masked_array(x, True),
        lambda: x.astype(lying),
        lambda: np.broadcast_to(np.float32(0), x.shape),
        lambda: np.lib.stride_tricks.as_strided(x, (*x.shape[:-1], 1 << 40), (0,) * x.ndim),
    ]
    return made[next(turn) % len(made)]()
