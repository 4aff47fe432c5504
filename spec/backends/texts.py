"""Calls, arrays and the ends of scripts as source text of each library."""

from collections.abc import Sequence

import numpy as np

from spec.backends.memory import Laid
from spec.notation import Array
from spec.written import IMPORTS, imported, literal

COPY = {"numpy": "{}.copy()", "torch": "{}.clone()"}
SAME = {"numpy": "before.tobytes() == {}.tobytes()", "torch": "torch.equal(before, {})"}
OVERLAP = {
    "numpy": "np.may_share_memory({}, {})",
    "torch": "{}.untyped_storage().data_ptr() == {}.untyped_storage().data_ptr()",
}
CLOSE = "np.isclose(got, want, rtol=0, atol=within, equal_nan=True).all()"
PRINT = 'print(f"got {got.tolist()}\\nwant {want.tolist()}\\nwithin {within.tolist()}")'


def imports(origin: str, library: str, dtype: str) -> list[str]:
    """The lines that import a target and its library, for calls in a format."""
    lines = imported(origin, IMPORTS[library])
    if (library, dtype) == ("jax", "float64"):
        lines.insert(-1, 'jax.config.update("jax_enable_x64", True)')
    return lines


def viewed(library: str, buffer: str, laid: Laid, dtype: str) -> str:
    """A view of a buffer."""
    if laid.strides is None:
        return f"{buffer}.reshape({laid.shape})"
    if library == "torch":
        return f"{buffer}.as_strided({laid.shape}, {laid.strides}, {laid.offset})"
    size = np.dtype(dtype).itemsize
    steps = tuple(size * step for step in laid.strides)
    return f"np.ndarray({laid.shape}, np.{dtype}, {buffer}, {laid.offset * size}, {steps})"


def leaves(library: str, names: Sequence[str]) -> list[str]:
    """The lines before a call that is differentiated by the arrays with these names."""
    if library != "torch":
        return []
    if len(names) == 1:
        return [f"{names[0]}.requires_grad_()"]
    return [f"for leaf in [{', '.join(names)}]:", "    leaf.requires_grad_()"]


def gradients(library: str, call: str, names: Sequence[str], douts: Sequence[str]) -> str:
    """The gradients of a call by arrays. douts: the cotangents; if none, the call in training."""
    by, back = ", ".join(names), douts[0] if len(douts) == 1 else f"({', '.join(douts)})"
    if library == "torch":
        every = f"{call}, [{by}], {back}, materialize_grads=True"
        return f"torch.autograd.grad({every})" if douts else call
    pulled = f"jax.vjp(lambda {by}: {call}, {by})"
    return f"{pulled}[1]({back})" if douts else f"{pulled}[0]"


def comparing(got: str, want: Array, within: Array) -> list[str]:
    """The end of a script: a value is compared with other numbers."""
    return [
        f"got = {got}",
        f"want = {literal(want)}",
        f"within = {literal(within)}",
        PRINT,
        f"raise SystemExit(not {CLOSE})",
    ]


def changing(library: str, call: str, name: str) -> list[str]:
    """The end of a script: a call changes the array `name`, which it is given."""
    return [
        f"before = {COPY[library].format(name)}",
        call,
        f'print(f"{name} before {{before.tolist()}}\\n{name} after {{{name}.tolist()}}")',
        f"raise SystemExit(not {SAME[library].format(name)})",
    ]


def sharing(library: str, call: str, name: str) -> list[str]:
    """The end of a script: the result of a call shares memory with the array `name`."""
    return [
        f"out = {call}",
        f"shared = {OVERLAP[library].format('out', name)}",
        f'print("out and {name} share memory:", shared)',
        "raise SystemExit(shared)",
    ]
