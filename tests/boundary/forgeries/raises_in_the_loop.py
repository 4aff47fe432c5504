"""Has a timer raise exceptions in the runner's own code, between calls."""

import signal

from functions import mean


def raises(*_):
    raise KeyboardInterrupt


signal.signal(signal.SIGALRM, raises)


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    signal.setitimer(signal.ITIMER_REAL, 0.0005)
    return mean(query, key, value)
