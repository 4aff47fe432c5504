"""Hangs when it is ended: in atexit, in finalisers, in threads that are no daemons, in handlers."""

import atexit
import gc
import signal
import sys
import threading
import time

from functions import mean


class Late:
    def __del__(self):
        time.sleep(1000)


def wait(*_):
    time.sleep(1000)


atexit.register(wait)
sys.late = Late()
threading.Thread(target=wait).start()
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
    signal.signal(number, wait)


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if query.shape[2] == 7:
        gc.callbacks.append(wait)
    return mean(query, key, value)
