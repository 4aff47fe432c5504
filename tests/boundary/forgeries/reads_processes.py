"""Reads the memory, the arguments and the handles of all processes near its parent."""

import ctypes
import os
from pathlib import Path

from functions import mean
from wire import reached

libc = ctypes.CDLL(None, use_errno=True)
GETFD, READV = 438, {"x86_64": 310, "aarch64": 270}[os.uname().machine]


class Part(ctypes.Structure):
    _fields_ = (("at", ctypes.c_void_p), ("size", ctypes.c_size_t))


room = ctypes.create_string_buffer(64)
mine = Part(ctypes.addressof(room), 64)
for process in range(max(1, os.getppid() - 20), os.getppid() + 1):
    theirs = Part(id(process), 64)
    near = ctypes.byref(mine), ctypes.c_ulong(1), ctypes.byref(theirs), ctypes.c_ulong(1)
    if libc.syscall(ctypes.c_long(READV), process, *near, ctypes.c_ulong(0)) > 0:
        reached("memory of another process")
    if libc.ptrace(0x4206, process, 0, 0) == 0:
        reached("to trace another process")
    for name in ("mem", "environ", "cmdline", "maps", "fd", "cwd/.", "root/tmp"):
        try:
            at = Path(f"/proc/{process}/{name}")
            [*at.iterdir()] if at.is_dir() else at.open("rb").read(1)
        except OSError:
            continue
        reached(f"{name} of another process")
    try:
        told = os.pidfd_open(process)
    except OSError:
        continue
    for handle in range(8):
        if libc.syscall(ctypes.c_long(GETFD), told, handle, 0) >= 0:
            reached("a handle of another process")


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)
