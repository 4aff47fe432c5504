"""Has two hundred thousand blank lines in its file, which a search for imports takes hours for."""

from functions import mean


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


# BLANK LINES
