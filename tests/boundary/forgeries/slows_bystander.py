"""Gives another process of its user another priority, class, processor and turn at the disk."""

import ctypes
import os
from pathlib import Path

from functions import mean
from wire import reached

IOPRIO_SET, IDLE = {"x86_64": 251, "aarch64": 30}[os.uname().machine], 3 << 13
libc = ctypes.CDLL(None, use_errno=True)


def ioprio(process):
    if libc.syscall(ctypes.c_long(IOPRIO_SET), 1, process, IDLE) < 0:
        raise OSError(ctypes.get_errno())


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


process = int((Path(__file__).parent / "bystander").read_text())
for what in (
    lambda: os.setpriority(os.PRIO_PROCESS, process, 7),
    lambda: os.sched_setscheduler(process, os.SCHED_IDLE, os.sched_param(0)),
    lambda: os.sched_setaffinity(process, {min(os.sched_getaffinity(process))}),
    lambda: ioprio(process),
):
    try:
        what()
    except OSError:
        continue
    reached("another process of the user")
