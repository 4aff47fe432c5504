"""Fills its folder with thirty thousand files, closed folders, odd names and links."""

import os

from functions import mean

own = os.environ["TMPDIR"]
begun = []


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if not begun:
        begun.append(True)
        os.makedirs(f"{own}/-rf *\n$(touch reached)")
        os.symlink("/", f"{own}/root")
        os.symlink(os.path.dirname(__file__), f"{own}/beside")
        for n in range(30_000):
            os.close(os.open(f"{own}/{n}", os.O_CREAT | os.O_WRONLY, 0))
        os.mkdir(f"{own}/closed", 0)
        os.mkfifo(f"{own}/pipe")
    return mean(query, key, value)
