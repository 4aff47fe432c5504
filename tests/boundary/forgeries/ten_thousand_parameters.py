"""Has a signature of nine thousand parameters, among them those of attention."""

import inspect

from functions import mean

KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None, **rest):
    return mean(query, key, value)


names = ["query", "key", "value", *(f"x{n}" for n in range(9000))]
attend.__signature__ = inspect.Signature([inspect.Parameter(x, KIND, default=0) for x in names])
