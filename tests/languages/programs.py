"""A program that speaks the protocol, and answers calls as its second part says."""

import sys
from pathlib import Path

BEGIN = f"""\
#!{sys.executable} -S
import os, signal, sys, time
read, out = sys.stdin.buffer, sys.stdout.buffer

def say(text, data=b""):
    out.write(text.encode() + data)
    out.flush()

def asked():
    lines = []
    for line in read:
        lines.append(line.decode().split())
        if lines[-1][0] == "data":
            return lines, read.read(int(lines[-1][1]))
    sys.exit()

SIGNATURE = "attend(query, key, value, mask=None, scale=None)"
"""
DESCRIBED = """
asked()
say(f"protocol 1\\nformats float32\\nfunction {SIGNATURE}\\ndata 0\\n")
"""
LOOP = """
while True:
    lines, data = asked()
    names = [x[1] for x in lines if x[0] == "array"]
    shape = next(x[3:] for x in lines if x[1] == "value")
"""
RIGHT = """
    say(f"array out float32 {' '.join(shape)}\\ndata {4 * 4}\\n", data[-16:])
"""


def written(folder: Path, answer: str, first: str = DESCRIBED) -> str:
    """The path of a program. answer: the lines with which it answers a call."""
    path = folder / "program"
    body = "".join(f"    {line}\n" for line in answer.splitlines())
    path.write_text(f"{BEGIN}{first}{LOOP}{body}")
    path.chmod(0o755)
    return str(path)
