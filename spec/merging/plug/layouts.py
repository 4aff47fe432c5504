"""Orders of the axes of a state: ours, and those of servers, which have no batch but tokens.

    bhld     (batch, heads, length, width) and (batch, heads, length)
    blhd     (batch, length, heads, width) and (batch, length, heads)
    lhd      (length, heads, width) and (length, heads): flashinfer, SGLang
    lhd-hl   (length, heads, width) and (heads, length): vLLM

Where there is no batch, the texts of ours stand one behind the other.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from spec.notation import Array


class Layout(NamedTuple):
    """An order of axes: in words, of an output or a log-sum-exp from ours to it, and back.

    back: an array of theirs, and one of ours that has its shape in ours.
    """

    words: str
    forth: Callable[[Array], Array]
    back: Callable[[Array, Array], Array]


def tokens(x: Array) -> Array:
    """(B, H, N, ...) to (B N, H, ...)."""
    B, H, N, *E = x.shape
    return x.swapaxes(1, 2).reshape(B * N, H, *E)


def texts(rows: Array, like: Array) -> Array:
    """(B N, H, ...) to (B, H, N, ...)."""
    B, H, N, *E = like.shape
    return rows.reshape(B, N, H, *E).swapaxes(1, 2)


def heads_first(x: Array) -> Array:
    """A log-sum-exp with its heads first; an output as it is."""
    return x.T if x.ndim == 2 else x


LAYOUTS: Mapping[str, Layout] = {
    "bhld": Layout("", lambda x: x, lambda x, _: x),
    "blhd": Layout(
        "(batch, length, heads, width), (batch, length, heads)",
        lambda x: x.swapaxes(1, 2),
        lambda x, _: x.swapaxes(1, 2),
    ),
    "lhd": Layout("(length, heads, width), (length, heads)", tokens, texts),
    "lhd-hl": Layout(
        "(length, heads, width), (heads, length)",
        lambda x: heads_first(tokens(x)),
        lambda x, like: texts(heads_first(x), like),
    ),
}
