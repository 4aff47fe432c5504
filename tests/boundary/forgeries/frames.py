"""Takes the question from the frames of its callers, and looks there for what is wanted."""

import gc
import sys

from functions import mean
from wire import reached


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    frame = sys._getframe(1)
    while frame is not None:
        for name, x in frame.f_locals.items():
            if "spec." in type(x).__module__ or name in ("want", "expected", "problem", "seed"):
                reached(f"{name} in a frame")
        frame = frame.f_back
    if any(type(x).__module__.split(".")[0] == "spec" for x in gc.get_objects()):
        reached("an object of the specification")
    return mean(query, key, value)
