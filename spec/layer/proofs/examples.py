"""Layer problems in exact numbers, and laws that hold of each without any rounding.

Inputs and parameters are integers, and heads have width 1 or 4, whose scales are 1 and 1 / 2;
rows of W_k and b_k are even where it is 1 / 2. So scores are integers, and in base 2 every
weight is a fraction (`spec.proving.exact`). True forbids, as it does in a layer. A law is run on
problems with every kind of mask that its clause speaks of, in turn.
"""

from typing import Any

import numpy as np

from spec.layer.domain import LIVE
from spec.layer.notation import LayerProblem, Parameters
from spec.notation import Array
from spec.proving.exact import Rationals
from spec.proving.theorem import Decorator, checked
from spec.stream import Stream

SIZES = (
    "16 problems in integers: up to 3 heads of width 1 or 4, 2 batch elements, 3 queries, 5 keys, "
    "keys and values of width 3"
)
SEEDS = range(16)


def integers(chance: Stream, *shape: int) -> Array:
    """Integers from -2 to 2, which stay exact whatever is done to them."""
    return chance.integers(-2, 3, shape).astype(object).view(Rationals)


def example(seed: int, hiding: tuple[str, ...] = LIVE) -> LayerProblem:
    """A problem in integers, with the next kind of mask."""
    chance = Stream(seed, 4)  # a purpose for which all sizes come up
    B, H, N, M, K, V = chance.integers(
        np.array([1, 1, 1, 2, 1, 1]), np.array([3, 4, 4, 6, 4, 4])
    ).tolist()
    D = chance.choice((1, 4))
    return LayerProblem(
        query=integers(chance, B, N, H * D),
        key=integers(chance, B, M, K),
        value=integers(chance, B, M, V),
        dout=integers(chance, B, N, H * D),
        parameters=_parameters(chance, H * D, K, V, even=D == 4),
        heads=H,
        **_hidden(chance, hiding[seed % len(hiding)], B, H, N, M),
        seed=seed,
    )


def _parameters(chance: Stream, A: int, K: int, V: int, even: bool) -> Parameters:
    widths = {"q": A, "k": K, "v": V, "o": A}
    found = {f"W_{place}": integers(chance, A, width) for place, width in widths.items()}
    found |= {f"b_{place}": integers(chance, A) for place in widths}
    found |= {name: found[name] * (2 if even else 1) for name in ("W_k", "b_k")}
    return Parameters(**found)


def _hidden(chance: Stream, kind: str, B: int, H: int, N: int, M: int) -> dict[str, Any]:
    """padding, mask and causality of a kind (`spec.layer.domain.HIDING`), without fractions."""
    found: dict[str, Any] = {"causal": "causal" in kind}
    if "padding" in kind:
        found["padding"] = np.arange(M) >= chance.integers(int("idle" not in kind), M, B)[:, None]
    hidden = chance.random(B * H if "heads" in kind else 1, N, M) < 0.4
    if "idle" in kind:
        hidden[:, 0] = True
    else:
        hidden[..., 0] = False
    if "mask" in kind or "bias" in kind:
        bias = np.where(hidden, -np.inf, chance.integers(-3, 4, hidden.shape))
        mask = bias if "bias" in kind else hidden
        found["mask"] = mask if "heads" in kind else mask[0]
    return found


def exactly(hiding: tuple[str, ...] = LIVE, **control: Any) -> Decorator:
    """A law of problems with some kinds of mask; `control` are the arguments that make it false."""
    return checked(lambda: (example(seed, hiding) for seed in SEEDS), SIZES, **control)
