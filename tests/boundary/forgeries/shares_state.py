"""Leaves a mark for the next runner in all that a system shares: memory, queues, sockets."""

import ctypes
import os
import resource
import socket
from multiprocessing import shared_memory

from functions import mean
from wire import reached

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *words):
    if getattr(libc, name)(*words) < 0:
        raise OSError(ctypes.get_errno(), name)


WAYS = {
    "an abstract socket": lambda: socket.socket(socket.AF_UNIX).bind("\0left"),
    "a socket with a path": lambda: socket.socket(socket.AF_UNIX).bind("left"),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
    "shared memory": lambda: shared_memory.SharedMemory("left", create=True, size=64),
    "a segment": lambda: call("shmget", 77, 64, 0o1600),
    "semaphores": lambda: call("semget", 77, 1, 0o1600),
    "a queue": lambda: call("msgget", 77, 0o1600),
    "a named queue": lambda: call("mq_open", b"/left", os.O_CREAT | os.O_RDWR, 0o600, None),
    "a named semaphore": lambda: os.open("/dev/shm/sem.left", os.O_CREAT),
    "limits of its parent": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0)),
    "a signal to its parent": lambda: os.kill(os.getppid(), 0),
    "a signal to all": lambda: os.killpg(os.getpgid(os.getppid()), 0),
    "the name of the machine": lambda: socket.sethostname(socket.gethostname()),
}
for what, way in WAYS.items():
    try:
        way()
    except OSError:
        continue
    reached(what)


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)
