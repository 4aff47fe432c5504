"""The vocabulary of the layer: its parameters, its problems, what is judged.

Axes, in addition to those of attention
    A width of a query, an output and all heads together (torch: embed_dim)
    K width of a key (kdim)    V width of a value (vdim)
    D = A / H, the width of one head
    G key heads, H unless keys and values have fewer rows: W_k (GD, K), W_v (GD, V), b_k b_v (GD)

Arrays
    query, y, dout (B, N, A)    key (B, M, K)    value (B, M, V)
    W_q (A, A)    W_k (A, K)    W_v (A, V)    W_o (A, A)    b_q b_k b_v b_o (A)

A weight has its outputs first, as in torch: y = x W^T + b. A head owns D rows of
W_q, W_k and W_v, and D columns of W_o.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np

from spec.notation import Array, Index, Length, Posed, read_only

Asks = Literal["nothing", "mean", "heads"]  # which weights are asked for beside the output
Arrays = Literal[1, 2, 3]
Turn = Literal["none", "halves", "interleaved"]

INPUTS = ("query", "key", "value")
BIASES = ("b_q", "b_k", "b_v", "b_o")
# By how many arrays there are, the one that stands for each input.
GIVEN: Mapping[int, tuple[str, str, str]] = {
    3: INPUTS,
    2: ("query", "key", "key"),
    1: ("query", "query", "query"),
}


@dataclass(frozen=True, eq=False)
class Parameters:
    """The parameters of a layer, or the gradients by them; a bias that is not there is None."""

    W_q: Array
    W_k: Array
    W_v: Array
    W_o: Array
    b_q: Array | None = None
    b_k: Array | None = None
    b_v: Array | None = None
    b_o: Array | None = None

    def __post_init__(self) -> None:
        read_only(self)

    def named(self) -> dict[str, Array]:
        """Those that are there, by name."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: x for name, x in found.items() if x is not None}

    def with_bias(self, place: str) -> Array:
        """A projection, with its bias as one more column if it has one.   (A, width + 1)"""
        W, b = getattr(self, f"W_{place}"), getattr(self, f"b_{place}")
        return W if b is None else np.concatenate([W, b[:, None]], axis=1)

    def but(self, **changes: Any) -> Parameters:
        """The same parameters, except for `changes`."""
        return replace(self, **changes)

    def mapped(self, function: Callable[[Array], Array]) -> Parameters:
        """`function` of every parameter."""
        return Parameters(**{name: function(x) for name, x in self.named().items()})


@dataclass(frozen=True, eq=False)
class LayerProblem(Posed):
    """One problem for a layer, and the loss <dout, y> to differentiate.

    heads: H. padding: (B, M) bool, True where a key is padding. mask: (N, M), or
    (B H, N, M) with the heads of a batch element side by side; bool, True where query i
    may not attend to key j; float, added to the scores after scaling, -inf forbids.
    causal: forbids the future as well. arrays: how many query, key and value are, 3; or 2,
    where key and value are one, as a decoder reads an encoder; or 1 in self-attention. Inputs
    that are one array are all the first one. batched: the arrays are handed over with their
    batch axis; of one element they need none. training: the mode. asks: which weights are asked
    for. turn: whether queries and keys are turned by their places, as rotary positions do. The
    rest is as `spec.notation.Posed` has it.
    Raises ValueError: several batch elements without a batch axis.
    """

    query: Array
    key: Array
    value: Array
    dout: Array
    parameters: Parameters
    heads: int
    _: KW_ONLY
    padding: Array | None = None
    mask: Array | None = None
    causal: bool = False
    arrays: Arrays = 3
    batched: bool = True
    training: bool = True
    asks: Asks = "nothing"
    turn: Turn = "none"

    shown_elsewhere: ClassVar[tuple[str, ...]] = (*Posed.shown_elsewhere, "heads")
    axes: ClassVar[Mapping[str, str]] = {
        "query": "B N A",
        "key": "B M K",
        "value": "B M V",
        "dout": "B N A",
        "padding": "B M",
        "mask": "BH N M",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        held = vars(self)
        held |= {name: held[given] for name, given in zip(INPUTS, self.given, strict=True)}
        if not self.batched and self.B != 1:
            raise ValueError(f"{self.B} batch elements need a batch axis")

    def part(self, letter: str, index: Index) -> LayerProblem:
        """As of any problem; the queries of self-attention are its keys, and leave with them."""
        if self.arrays > 1 or letter not in ("N", "M"):
            return super().part(letter, index)
        apart = self.but(arrays=3)
        return apart.part("N", index).part("M", index).but(arrays=1)

    def of(self, **changes: Any) -> LayerProblem:
        """The same problem, except for `changes` of its parameters."""
        return replace(self, parameters=self.parameters.but(**changes))

    def wide(self) -> LayerProblem:
        """The same numbers, those of the parameters too, in NumPy's widest float here."""
        parameters = self.parameters.mapped(lambda x: x.astype(np.longdouble))
        return super().wide().but(parameters=parameters)

    B = Length("query", 0)

    @property
    def given(self) -> tuple[str, str, str]:
        """The names of the arrays that are handed over as query, key and value."""
        return GIVEN[self.arrays]

    @property
    def distinct(self) -> tuple[str, ...]:
        """The names of those arrays, each once."""
        return tuple(dict.fromkeys(self.given))

    @property
    def H(self) -> int:
        return self.heads

    N = Length("query", 1)
    M = Length("key", 1)
    A = Length("query", 2)

    @property
    def D(self) -> int:
        return self.A // self.H

    @property
    def key_heads(self) -> int:
        """G, of which each is read by H / G heads in a row."""
        return len(self.parameters.W_k) // self.D

    @property
    def biases(self) -> tuple[str, ...]:
        """The names of the biases that are there."""
        return tuple(name for name in BIASES if getattr(self.parameters, name) is not None)

    @property
    def own_widths(self) -> bool:
        """Whether keys or values have another width than queries."""
        return self.key.shape[2] != self.A or self.value.shape[2] != self.A


@dataclass(frozen=True, eq=False)
class LayerGradients:
    """The derivatives of <dout, y>: by the inputs, and by the parameters.

    inputs: by the names of the arrays that are there; one that stands for several inputs has
    the sum of their derivatives, under the name of the first.
    """

    inputs: Mapping[str, Array]
    parameters: Parameters

    def mapped(self, function: Callable[[Array], Array]) -> LayerGradients:
        """`function` of every derivative."""
        inputs = {name: function(x) for name, x in self.inputs.items()}
        return LayerGradients(inputs, self.parameters.mapped(function))
