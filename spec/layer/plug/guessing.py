"""A proposal for a description, by the names and shapes of the arrays of a layer.

Nothing is tested by a guess: it is what an error proposes. `looking` adds what calls show.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spec.backends.calling import Parameters, by_place, required, told
from spec.backends.library import INDENT, description_file
from spec.layer.axes import OURS, fitting, parts_of
from spec.layer.notation import LayerProblem
from spec.layer.plug.described import Description
from spec.layer.plug.expressions import maker
from spec.layer.plug.looking import looks_back, meaning
from spec.layer.plug.options import FLAGS, MASKS, OTHER_MASKS
from spec.layer.plug.rates import undropped
from spec.layer.state import APART, TORCH, Names

SHOWN = 10  # parameters in an error
CALLED = {
    "qkv": "qkv|in_proj|c_attn",
    "kv": "kv",
    "q": "q|query|queries",
    "k": "k|key|keys",
    "v": "v|value|values",
    "o": "o|out|output|proj|dense",
}
MEANS = {"seen": "True may attend", "hidden": "True masks out", "added": "added to the scores"}
WORD = r"(?:^|[\W_]|(?<=[wb]))(?:{})(?:$|[\W_])"  # w_q, wq, query_weight


def undescribed(
    wrapped: Any, layer: Any, problem: LayerProblem, arrays: Iterable[tuple[str, tuple[int, ...]]]
) -> str:
    """That a layer has no state_dict, and what to write in a description of its attributes.

    arrays: the paths of its attributes that are arrays, and their shapes.
    """
    if lines := _lines(wrapped, layer, problem, arrays):
        return f"it has no state_dict; {saved(wrapped.build, lines)}"
    how = f"name its attributes under [names] in {(file := _file(wrapped.build))}"
    return f"it has no state_dict; {how}, and add --description {file}"


def instead(
    wrapped: Any,
    layer: Any,
    there: Mapping[str, tuple[int, ...]],
    problem: LayerProblem,
    wrong: str,
) -> str:
    """The error about a layer whose state differs: what to write in a description comes first.

    wrong: how the state differs from that of torch's layer, or from what a description says.
    """
    names: Names = wrapped.told.in_full
    if names is TORCH and not there.keys() & {"in_proj_weight", *APART}:
        if lines := _lines(wrapped, layer, problem, there.items()):
            other = "its parameters have other names than those of torch.nn.MultiheadAttention"
            return f"{other}; {saved(wrapped.build, lines)}"
        return f"{_unmatched(wrapped.build, there)}; {wrong}"
    p = problem.parameters.named()
    for name, shape in there.items():
        parts = parts_of(names.get(name, ""))
        if parts and p.keys() >= {*parts}:
            x = np.concatenate([p[part] for part in parts])
            text = next(fitting(x, parts, problem.D, shape), names[name])
            if parts and shape != x.shape and text != names[name]:
                how = f'describe it as {_key(name)} = "{text}"'
                return f"{wrong}; its axes are in another order: {how}"
    return wrong


def _unmatched(build: Any, there: Mapping[str, tuple[int, ...]]) -> str:
    """Which of our matrices are not found by names, the parameters there, and what to write."""
    known = {part for path, shape in there.items() for part in _meant(path, len(shape))}
    lacking = [part for part in ("W_q", "W_k", "W_v") if part not in known]
    which = f"no names say which of its parameters are {', '.join(lacking)}"
    named = [f"{path} {shape}" for path, shape in there.items()]
    listed = ", ".join(named[:SHOWN]) + ", ..." * (len(named) > SHOWN)
    left = (x for x, shape in there.items() if len(shape) > 1 and not _meant(x, len(shape)))
    line = f'{_key(next(left, "weight"))} = "{lacking[0] if lacking else "W_q"}"'
    file = _file(build)
    how = f"write lines such as {line} under [names] in {file}, and add --description {file}"
    said = which if lacking else "the shapes of its parameters do not fit"
    return f"{said}: it has {listed}; {how} (docs/layer.md)"


def _file(build: Any) -> str:
    return description_file(getattr(build, "__name__", "layer"))


def saved(build: Any, lines: Iterable[str]) -> str:
    """The lines of a description, after the advice to save them and to name the file."""
    file = _file(build)
    said = f"save these lines as {file}, and add --description {file}:"
    return INDENT.join([said, *lines])


def _lines(
    wrapped: Any, layer: Any, problem: LayerProblem, arrays: Iterable[tuple[str, tuple[int, ...]]]
) -> list[str]:
    """A description as lines, by paths and shapes of arrays; none if that is not clear."""
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
        return []
    call = told(layer.forward if hasattr(layer, "forward") else layer) or {}
    make = undropped(wrapped, layer) if wrapped.instance is None else ""
    written = Description(found, maker(make, wrapped.build), _inputs(call))
    return [
        *[f'make = "{make}"'] * bool(make),
        *["inputs = 1"] * (written.inputs == 1),
        *_causal(replace(wrapped, told=written), problem, call),
        "[names]",
        *(f'{_key(path)} = "{text}"{_aside(text)}' for path, text in found.items()),
        *_masks(replace(wrapped, told=written), problem, call),
    ]


def _aside(text: str) -> str:
    """A comment on a matrix whose axes its shape does not tell."""
    square = re.fullmatch(r"(W_.) \(in, out\)", text)
    return f'  # for y = x @ W.T: "{square[1]}"' if square else ""


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


def _masks(wrapped: Any, problem: LayerProblem, call: Parameters) -> list[str]:
    """The lines for the masks of a call: as they were seen to act, or to be looked up."""
    names = [name for name in OTHER_MASKS if name in call]
    found = {name: meaning(wrapped, problem, name) for name in names}
    lines = [f'{name} = "{x}"  # {MEANS[x.split()[0]]}' for name, x in found.items() if x]
    other = [f"# {x} = ...  # what it means: docs/layer.md" for x in names if not found[x]]
    return [*other, *["[masks]"] * bool(lines), *lines]


def _causal(wrapped: Any, problem: LayerProblem, call: Parameters) -> list[str]:
    """The line of a layer that is always causal, or that asks for it where it did not answer."""
    seen = looks_back(wrapped, problem)
    if seen is None and not call.keys() & {*MASKS, *FLAGS, *OTHER_MASKS}:
        return ['# causal = "always"  # if each token attends to earlier ones alone']
    return ['causal = "always"'] if seen else []


def _inputs(call: Parameters) -> int:
    """How many inputs a call takes."""
    needed = [name for name in by_place(call, len(call)) if required(call[name])]
    return 3 if len(needed) > 2 else 1
