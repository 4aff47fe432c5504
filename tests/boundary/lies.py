"""Targets that are right, and that speak to their judge in the place of the runner they live in.

Each lies in every call, or from a call on, by the words of its name: `garbage`, `garbage_later`.
"""

import ctypes
import json
import os
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

LATER = 100  # calls, before which one is probed
Talk = tuple[socket.socket, Mapping[str, Any]]

NAME = 15  # of prctl


def marked() -> None:
    """Give this process a name, which others see from outside of its namespaces, and print it."""
    name = f"lie-{secrets.token_hex(5)}"
    ctypes.CDLL(None).prctl(NAME, name.encode())
    print(f"left {name} {tempfile.gettempdir()}", flush=True)


marked()


def spoken() -> Talk:
    """The socket of the runner, and the question that it answers now."""
    frame: Any = sys._getframe()
    while "talk" not in frame.f_locals or "told" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["talk"], frame.f_locals["told"]


def say(told: Any) -> None:
    talk, _ = spoken()
    talk.send(told if isinstance(told, bytes) else json.dumps(told).encode())


def answer(told: Any) -> None:
    say({"n": spoken()[1]["n"], "ok": told})


def close() -> None:
    spoken()[0].close()


def shut() -> None:
    spoken()[0].shutdown(socket.SHUT_RDWR)


def pass_handles() -> None:
    told = json.dumps({"n": spoken()[1]["n"], "ok": {"is": None}})
    socket.send_fds(spoken()[0], [told.encode()], [0, 1, 2] * 50)


def late() -> None:
    """Answer the last question once more, after the next one."""
    number = EARLIER.pop() if EARLIER else ""
    EARLIER.append(spoken()[1]["n"])
    if number:
        say({"n": number, "ok": {"is": None}})


def leave() -> None:
    """Start a process in a session of its own, and be silent."""
    if not os.fork():
        os.setsid()
        marked()
    time.sleep(600)


EARLIER: list[str] = []
ARRAY = {"dtype": "float32", "shape": [1], "device": "cpu", "grad": None, "id": -1, "at": 1 << 29}
NO = {"type": 1, "line": [], "kind": {}, "missing": 0}
LIES: Mapping[str, Callable[[], object]] = {
    "token": lambda: say({"n": "f" * 16, "ok": {"is": None}}),
    "garbage": lambda: say(b"\xff\xfe certified"),
    "long": lambda: say(b"x" * 150_000),
    "longer": lambda: say(b"x" * 10**7),
    "deep": lambda: say(b"[" * 100_000),
    "endless": lambda: answer({"is": {"l": [{"l": [0]}] * 10_001}}),
    "empty": lambda: say(b""),
    "twice": lambda: answer({"is": None}),
    "late": late,
    "text": lambda: say({"n": spoken()[1]["n"], "no": NO}),
    "shape": lambda: answer({"is": {"a": {**ARRAY, "shape": [-1]}}}),
    "place": lambda: answer({"is": {"a": {**ARRAY, "at": 0}}}),
    "large": lambda: answer({"is": {"a": {**ARRAY, "shape": [1 << 39]}}}),
    "form": lambda: answer({"certified": True}),
    "died": lambda: say({"died": 0}),
    "died_oddly": lambda: say({"died": 10**9}),
    "stopped": lambda: say({"died": -19}),
    "closes": close,
    "shuts": shut,
    "handles": pass_handles,
    "silent": lambda: time.sleep(600),
    "leaves": leave,
    "flood": lambda: [say({}) for _ in range(10_000)],
}


def attend(query: Any, key: Any, value: Any) -> Any:
    groups = query.shape[1] // key.shape[1]
    key, value = np.repeat(key, groups, 1), np.repeat(value, groups, 1)
    scores = query @ np.swapaxes(key, -1, -2) / query.dtype.type(np.sqrt(query.shape[-1]))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


def lying(name: str, lie: Callable[[], object], first: int = 0) -> Callable[..., Any]:
    calls = 0

    def liar(query: Any, key: Any, value: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > first:
            lie()
        return attend(query, key, value)

    liar.__name__ = name
    return liar


for _name, _lie in LIES.items():
    globals()[_name], globals()[f"{_name}_later"] = lying(_name, _lie), lying(_name, _lie, LATER)
