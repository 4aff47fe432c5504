"""How a layer that is not torch's is built, named and called, in a few words of its user.

    layer(Block, names={"c_attn.weight": "W_q W_k W_v", ...}, make=..., inputs=1, causal="always")

The same words may stand in a file; those for layers of public libraries are in `descriptions`:

    make = "Block(Config(n_embd=A, n_head=H, bias=bias))"    # default: as torch's is made
    inputs = 1                                               # default: 3
    causal = "always"                                        # default: "optional"
    rotary = "halves"                                        # or interleaved; default: "none"
    [names]                      # for each parameter, ours that stand in it, one above the other
    "c_attn.weight" = "W_q W_k W_v"                          # and its axes (`spec.layer.axes`)
    [masks]                      # a parameter of the call: its meaning, and its axes
    attention_mask = "added (B, 1, 1, M)"
    [given]                      # a parameter of the call: its value
    position_ids = "torch.arange(N)"

`make` is an expression of the sizes A, H, G and D, and of `bias`, which is true if there are
biases. Entries of `[given]` may use B, N, M, A, H, D and the first input, `x`. Both may use the
names in the module of the layer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spec.backends.library import Unsuitable
from spec.backends.unknown import unknown
from spec.layer.axes import OURS, fault_of, parts_of
from spec.layer.notation import BIASES, LayerProblem
from spec.layer.plug.expressions import OF_A_CALL, OF_A_MAKER, Expression, Function, names_of, taken
from spec.layer.plug.shipped import content
from spec.layer.record import Capability
from spec.layer.state import TORCH, Names

KEYS = ("names", "make", "inputs", "causal", "rotary", "masks", "given")
MASK = r"(added|hidden|seen) \(((?:[BHN1], )*M)\)"  # what a mask says, and its axes
INPUTS = (1, 3)
TYPES = {"inputs": int, "make": str, "causal": str, "rotary": str}


@dataclass(frozen=True)
class Form:
    """The meaning of a mask of a call, and its axes: "hidden (B, M)", or "added (B, 1, 1, M)".

    hidden: True forbids. seen: True may be attended to. added: to the scores, -inf forbids.
    """

    means: str
    axes: tuple[str, ...]

    @staticmethod
    def of(text: str) -> Form:
        """Raises Unsuitable: other words."""
        found = re.fullmatch(MASK, text)
        axes = found[2].split(", ") if found else []
        if not found or [x for x in "BHNM" if x in axes] != [x for x in axes if x != "1"]:
            raise Unsuitable(f'{text!r} is no mask: write "added (B, 1, 1, M)", hidden or seen')
        return Form(found[1], tuple(axes))

    @property
    def kinds(self) -> frozenset[Capability]:
        """The kinds of problem that such a mask can express."""
        c, axes = Capability, {*self.axes}
        rows = {c.MASK, c.CAUSAL} if "N" in axes else set()
        if "N" in axes and self.means == "added":
            rows.add(c.BIAS)
        if {"B", "H", "N"} <= axes:
            rows.add(c.HEAD_MASK)
        return frozenset(rows | ({c.PADDING} if "B" in axes else set()))


@dataclass(frozen=True)
class Description:
    """The description of a layer in addition to its class; the defaults are those of torch's.

    names: of its parameters. make: of A, H, G, D and bias, whichever it takes, the layer.
    inputs: 3 for query, key and value, 1 for one text. masks: parameters of the call that
    are masks. given: its other parameters, as functions of sizes and of the first input.
    Raises Unsuitable: another number of inputs.
    """

    names: Names = field(default_factory=lambda: TORCH)
    make: Function | None = None
    inputs: int = 3
    masks: Mapping[str, Form] = field(default_factory=dict)
    given: Mapping[str, Function] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.inputs not in INPUTS:
            words = "3 (query, key and value) or 1 (one text)"
            raise Unsuitable(f"inputs is {self.inputs}, want {words}")

    @property
    def of_torch(self) -> bool:
        """Whether the parameters have torch's names."""
        return self.names is TORCH

    @property
    def parts(self) -> set[str]:
        """Our parameters that have a name."""
        return {part for text in self.names.values() for part in parts_of(text)}

    @property
    def biases(self) -> tuple[str, ...]:
        """The biases of the layer; an output projection that is added has one if any other has."""
        found = tuple(name for name in BIASES if name in self.parts)
        return (*found, "b_o") if found and not self.complete else found

    @property
    def complete(self) -> bool:
        """Whether the layer projects its output itself."""
        return "W_o" in self.parts

    @property
    def in_full(self) -> Names:
        """The names of all parameters, where an output projection is added to the layer."""
        if self.complete:
            return self.names
        added = {"output.weight": "W_o", "output.bias": "b_o"}
        return {f"inner.{name}": parts for name, parts in self.names.items()} | added

    def told(self, problem: LayerProblem, x: Any) -> dict[str, Any]:
        """The arguments of a call other than its inputs and its masks."""
        known = {name: getattr(problem, name) for name in OF_A_CALL[:-1]} | {"x": x}
        return {word: function(**taken(function, known)) for word, function in self.given.items()}

    def made(self, problem: LayerProblem) -> Any:
        """A new layer, by the maker."""
        assert self.make is not None
        known = {name: getattr(problem, name) for name in "AHD"}
        known |= {"G": problem.key_heads, "bias": bool(problem.biases)}
        return self.make(**taken(self.make, known))


def placed(names: Names | None) -> Names:
    """The names, if each weight but W_o has a place, and none has two. Raises Unsuitable."""
    if names is None:
        return TORCH
    parts = [part for text in names.values() for part in parts_of(text)]
    for part in parts:
        if part not in OURS:
            raise Unsuitable(f"names: {unknown('name', part, OURS)}")
        if parts.count(part) > 1:
            raise Unsuitable(f"names: {part} has {parts.count(part)} places")
    for fault in filter(None, map(fault_of, names.values())):
        raise Unsuitable(f"names: {fault}")
    for part in ("W_q", "W_k", "W_v"):
        if part not in parts:
            raise Unsuitable(f"names: {part} has no place")
    if "b_o" in parts and "W_o" not in parts:
        raise Unsuitable("names: b_o has a place, and W_o has none")
    return dict(names)


def read(file: str, target: Any) -> dict[str, Any]:
    """The description of the layer `target`, as arguments of `layer`. Raises Unsuitable.

    file: its path, or the name of one that comes with this package (`shipped`).
    """
    return described(file, content(file), target)


def described(file: str, said: dict[str, Any], target: Any) -> dict[str, Any]:
    """The content of a description, with its expressions as functions. Raises Unsuitable."""
    for key, value in said.items():
        if key not in KEYS:
            raise Unsuitable(f"{file}: {unknown('key', key, KEYS)}")
        _typed(f"{file}: {key}", value, TYPES.get(key, dict))
        for name, text in value.items() if isinstance(value, dict) else ():
            _typed(f"{file}: {key}.{name}", text, str)
    space = names_of(target if hasattr(target, "__qualname__") else type(target))
    if "make" in said:
        said["make"] = Expression.of(f"{file}: make", said["make"], OF_A_MAKER, space)
    given = said.get("given", {})
    said["given"] = {
        name: Expression.of(f"{file}: given.{name}", text, OF_A_CALL, space)
        for name, text in given.items()
    }
    return said


def _typed(place: str, value: Any, kind: type) -> None:
    words = {dict: "a table", str: "a text", int: "a number"}
    if type(value) is not kind:
        raise Unsuitable(f"{place} is {value!r}, want {words[kind]}")
