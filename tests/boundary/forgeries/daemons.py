"""Leaves processes behind: of a session of their own, stopped, traced, deaf, and of its parent."""

import ctypes
import os
import signal
import time

from functions import mean

SYSCALL, PARENT = {"x86_64": 56, "aarch64": 220}[os.uname().machine], 0x8000
libc = ctypes.CDLL(None)
begun = []


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if not begun:
        begun.append(True)
        for life in (apart, stopped, traced):
            if not os.fork():
                life()
                lives()
        if not libc.syscall(ctypes.c_long(SYSCALL), PARENT | signal.SIGCHLD, 0, 0, 0, 0):
            lives()
    return mean(query, key, value)


def apart():
    os.setsid()
    if os.fork():
        os._exit(0)
    libc.prctl(1, 0)


def stopped():
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)


def traced():
    os.setsid()
    if not os.fork():
        libc.ptrace(0, 0, 0, 0)
        os.kill(os.getpid(), signal.SIGSTOP)


def lives():
    for number in range(1, 65):
        if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            signal.signal(number, signal.SIG_IGN)
    os.closerange(0, 256)
    time.sleep(100)
    os._exit(0)
