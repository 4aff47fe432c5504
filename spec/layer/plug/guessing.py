"""A proposal for a description, by the names and shapes of the arrays of a layer.

Nothing is tested by a guess: it is what an error proposes.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from spec.backends.calling import by_place, required, told
from spec.layer.axes import OURS, fitting, parts_of
from spec.layer.notation import LayerProblem
from spec.layer.state import Names

DEEP = 2  # attributes of attributes
CALLED = {"q": "q|query|queries", "k": "k|key|keys", "v": "v|value|values", "o": "o|out|output"}
WORD = r"(?:^|[\W_]|(?<=[wb]))(?:{})(?:$|[\W_])"  # w_q, wq, query_weight


def undescribed(layer: Any, problem: LayerProblem) -> str:
    """That a layer has no state_dict, and what to write in a description of its attributes."""
    found: dict[str, str] = {}
    for path, shape in _arrays(layer):
        part = _meant(path, len(shape))
        if part in problem.parameters.named() and part not in map(_first, found.values()):
            x = problem.parameters.named()[part]
            text = next(fitting(x, (part,), problem.D, shape), None)
            found |= {path: f"{part} (in, out)" if text == part and part[0] == "W" else text or ""}
    found = {path: text for path, text in found.items() if text}
    if not {"W_q", "W_k", "W_v"} <= {*map(_first, found.values())}:
        return "it has no state_dict; name its attributes under [names] in a --description FILE"
    lines = [f'{_key(path)} = "{text}"' for path, text in found.items()]
    square = any("(in, out)" in text for text in found.values())
    hint = "; for y = x @ W.T, leave (in, out) out" if square else ""
    written = f"{_inputs(layer)}names = {{{', '.join(lines)}}}{hint}"
    return f"it has no state_dict; describe it by --description FILE, with the lines: {written}"


def instead(there: Mapping[str, tuple[int, ...]], problem: LayerProblem, names: Names) -> str:
    """The text for an array that has the shape of a parameter with other axes; "" for none."""
    p = problem.parameters.named()
    for name, shape in there.items():
        parts = parts_of(names.get(name, ""))
        if parts and p.keys() >= {*parts}:
            x = np.concatenate([p[part] for part in parts])
            text = next(fitting(x, parts, problem.D, shape), names[name])
            if parts and shape != x.shape and text != names[name]:
                return f'; its axes are in another order: describe it as {_key(name)} = "{text}"'
    return ""


def _arrays(
    owner: Any, before: str = "", deep: int = DEEP
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The paths of the arrays that an object has, and their shapes."""
    inner = owner if isinstance(owner, Mapping) else getattr(owner, "__dict__", {})
    for name, x in inner.items():
        path, several = f"{before}{name}", isinstance(x, list | tuple) and len(x) > 0
        if isinstance(x, np.ndarray):
            yield path, x.shape
        elif several and all(isinstance(each, np.ndarray) for each in x):
            yield path, (len(x), *x[0].shape)
        elif several and deep > 1:
            found = _arrays(x[0], f"{path}.*.", deep - 1)
            yield from ((there, (len(x), *shape)) for there, shape in found)
        elif deep > 1:
            yield from _arrays(x, f"{path}.", deep - 1)


def _meant(path: str, axes: int) -> str:
    """Our parameter that goes by a name; "" if none does."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", path.rpartition(".")[2]).lower()
    for letter, words in CALLED.items():
        if re.search(WORD.format(words), name):
            bias = axes < 2 or re.match(r"b(?:ias)?_|b[qkvo]$", name)
            part = f"{'b' if bias else 'W'}_{letter}"
            return part if part in OURS else ""
    return ""


def _first(text: str) -> str:
    return parts_of(text)[0] if text else ""


def _key(path: str) -> str:
    return path if re.fullmatch(r"\w+", path) else f'"{path}"'


def _inputs(layer: Any) -> str:
    """How many inputs a call takes, as a line; nothing where there are three."""
    call = told(layer.forward if hasattr(layer, "forward") else layer) or {}
    needed = [name for name in by_place(call, len(call)) if required(call[name])]
    return "" if len(needed) > 2 else "inputs = 1 and "
