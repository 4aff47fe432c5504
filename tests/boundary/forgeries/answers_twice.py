"""Sends every answer twice, so that the second meets the next question."""

import json
import os

from functions import mean
from wire import answering, socket


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


def twice(told, found):
    os.write(socket(), json.dumps({"n": told["n"], **found}).encode())
    return found


answering(twice)
