"""A proposal for a description, by the names and shapes of the arrays of a layer.

Nothing is tested by a guess: it is what an error proposes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from spec.backends.calling import Parameters, by_place, required, told
from spec.layer.axes import OURS, fitting, parts_of
from spec.layer.notation import LayerProblem
from spec.layer.plug.options import FLAGS, MASKS, OTHER_MASKS
from spec.layer.state import APART, TORCH, Names

DEEP = 2  # attributes of attributes
CALLED = {
    "qkv": "qkv|in_proj|c_attn",
    "kv": "kv",
    "q": "q|query|queries",
    "k": "k|key|keys",
    "v": "v|value|values",
    "o": "o|out|output|proj|dense",
}
WORD = r"(?:^|[\W_]|(?<=[wb]))(?:{})(?:$|[\W_])"  # w_q, wq, query_weight


def undescribed(layer: Any, problem: LayerProblem) -> str:
    """That a layer has no state_dict, and what to write in a description of its attributes."""
    lines = _lines(layer, problem, _arrays(layer))
    if not lines:
        return "it has no state_dict; name its attributes under [names] in a --description FILE"
    return f"it has no state_dict; {lines}"


def instead(
    layer: Any, there: Mapping[str, tuple[int, ...]], problem: LayerProblem, names: Names
) -> str:
    """The description, or its text for one array, of a layer whose state differs; "" for none."""
    if names is TORCH and not there.keys() & {"in_proj_weight", *APART}:
        lines = _lines(layer, problem, there.items())
        return f"; {lines}" if lines else ""
    p = problem.parameters.named()
    for name, shape in there.items():
        parts = parts_of(names.get(name, ""))
        if parts and p.keys() >= {*parts}:
            x = np.concatenate([p[part] for part in parts])
            text = next(fitting(x, parts, problem.D, shape), names[name])
            if parts and shape != x.shape and text != names[name]:
                return f'; its axes are in another order: describe it as {_key(name)} = "{text}"'
    return ""


def _lines(layer: Any, problem: LayerProblem, arrays: Iterable[tuple[str, tuple[int, ...]]]) -> str:
    """What to write in a description, by paths and shapes of arrays; "" if that is not clear."""
    p, found, known = problem.parameters.named(), dict[str, str](), set[str]()
    for path, shape in arrays:
        parts = _meant(path, len(shape))
        if parts and p.keys() - known >= {*parts}:
            x = np.concatenate([p[part] for part in parts])
            if text := next(fitting(x, parts, problem.D, shape), ""):
                either = text == parts[0] and text[0] == "W" and not path.endswith(".weight")
                found[path] = f"{text} (in, out)" if either else text
                known |= {*parts}
    if not {"W_q", "W_k", "W_v"} <= known:
        return ""
    lines = ", ".join(f'{_key(path)} = "{text}"' for path, text in found.items())
    square = any(re.fullmatch(r"W_. \(in, out\)", text) for text in found.values())
    hint = "; for y = x @ W.T, leave (in, out) out" if square else ""
    wanted = f"{_inputs(layer)}names = {{{lines}}}{_masks(layer)}{hint}"
    return f"describe it by --description FILE, with the lines: {wanted}"


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


def _meant(path: str, axes: int) -> tuple[str, ...]:
    """Our parameters that go by a name; none if none does."""
    word = re.sub(r"(\.(weight|bias|\d+))+$", "", path).rpartition(".")[2]
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower()
    bias = axes < 2 or re.match(r"b(?:ias)?_|b[qkvo]$", name)
    for letters, words in CALLED.items():
        if re.search(WORD.format(words), name):
            parts = tuple(f"{'b' if bias else 'W'}_{letter}" for letter in letters)
            return parts if {*parts} <= {*OURS} else ()
    return ()


def _key(path: str) -> str:
    return path if re.fullmatch(r"\w+", path) else f'"{path}"'


def _masks(layer: Any) -> str:
    """The line for what a call masks: by its own parameters, or the future if it has none."""
    lines = ", ".join(f'{name} = "seen (N, M)"' for name in OTHER_MASKS if name in _call(layer))
    other = " (True may attend; docs/layer.md lists others)"
    if lines:
        return f" and masks = {{{lines}}}{other}"
    of_torch = _call(layer).keys() & {*MASKS, *FLAGS}
    return "" if of_torch else ', and causal = "always" if each token attends to earlier ones alone'


def _call(layer: Any) -> Parameters:
    return told(layer.forward if hasattr(layer, "forward") else layer) or {}


def _inputs(layer: Any) -> str:
    """How many inputs a call takes, as a line; nothing where there are three."""
    call = _call(layer)
    needed = [name for name in by_place(call, len(call)) if required(call[name])]
    return "" if len(needed) > 2 else "inputs = 1 and "
