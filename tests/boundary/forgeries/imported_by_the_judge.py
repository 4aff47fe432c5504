"""Has itself imported where the specification is, by the scripts that show its own failures."""

import sys
from pathlib import Path

from functions import mean
from wire import reached

if "spec" in sys.modules or "attention_runner" not in sys.modules:
    Path(__file__).with_name("imported").touch()
    reached("a process that is not confined")


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if attn_mask is not None and query.flags.writeable:
        query *= 2
    return mean(query, key, value)
