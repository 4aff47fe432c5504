"""Small problems with which an attention function is tried out before anything is judged.

Sizes differ between axes, but for as many queries as keys; numbers are eighths, which every
dtype has exactly, and each problem is of one kind and of no other, where it can be.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from spec.abilities import Problems
from spec.attention.notation import Problem
from spec.attention.options import OPTIONS, SINGLE, SIZES, Capability, kinds_of
from spec.attention.record import Implementation
from spec.attention.small import OF_ONE_TEXT, PADDED, TAKING_TURNS
from spec.entries import eighths
from spec.notation import DTYPES

# Soft-caps that scores of about one hardly feel, of which the products stay finite.
LARGE = dict.fromkeys(DTYPES, 2.0**16) | {"float16": 2.0**12}
OF_OPTION = {
    "bias_gradient": Capability.BIAS,
    "sink_gradient": Capability.SINKS,
    "slope_gradient": Capability.SLOPES,
}


def core(dtype: str, **changes: Any) -> Problem:
    """A small problem of the core: sizes differ between axes, except that E = D and G = H.

    changes: other sizes, by the letters of their axes, and other attributes of a Problem.
    """
    n = {"B": 2, "H": 3, "N": 4, "M": 5, "D": 2} | changes
    n = {"G": n["H"], "E": n["D"]} | n
    return Problem(
        q=eighths(n["B"], n["H"], n["N"], n["D"], seed=1),
        k=eighths(n["B"], n["G"], n["M"], n["D"], seed=2),
        v=eighths(n["B"], n["G"], n["M"], n["E"], seed=3),
        dout=eighths(n["B"], n["H"], n["N"], n["E"], seed=4),
        dtype=dtype,
        rounding="strict" if dtype in ("float64", "float32") else "eager",
        **{name: x for name, x in changes.items() if name not in SIZES},
    )


def square(dtype: str, **changes: Any) -> Problem:
    """The same with as many queries as keys, for functions that require this."""
    return core(dtype, **{"M": 4} | changes)


@cache
def kinds(dtype: str) -> Mapping[str, tuple[Problem, ...]]:
    """For each kind of problem, some that are of that kind; masks in the plainest form first."""
    return {o.capability: tuple(square(dtype, **x) for x in o.small) for o in OPTIONS if o.small}


def of_many(dtype: str, answers: frozenset[str]) -> tuple[Problem, ...]:
    """Two problems that say as much at once as is answered, one with either kind of mask."""
    return tuple(_saying_most(dtype, answers, x) for x in (Capability.BIAS, Capability.MASK))


def _saying_most(dtype: str, answers: frozenset[str], but: str) -> Problem:
    """A problem of the usual sizes of as many kinds as it can be of those answered, but of one."""
    problem, said = square(dtype), frozenset[str]()
    for option in (o for o in SINGLE if o.parameters and o.capability != but):
        more = said | {option.capability}
        tried = (problem.but(**x) for x in option.small if not SIZES & {*x})
        found = next((p for p in tried if more <= kinds_of(p) <= answers), None)
        problem, said = (problem, said) if found is None else (found, more)
    return problem


def of_functions(dtype: str) -> Mapping[str, tuple[str, Problems]]:
    """Functions that may refuse even the core, and what they are tried on."""
    plain, small = (square(dtype),), kinds(dtype)
    offering = Implementation.offering.items()
    words = {name: capability for capability, name in offering if name != "call"}
    tried: dict[str, Problems] = {name: small[option] for name, option in OF_OPTION.items()}
    alone = {"dlse": np.ones(plain[0].dout.shape[:3]), "dout": np.zeros(plain[0].dout.shape)}
    tried["lse_backward"] = (plain[0].but(**alone),)
    return {name: (capability, tried.get(name, plain)) for name, capability in words.items()}


def telling(dtype: str) -> Mapping[str, tuple[Problem, ...]]:
    """For each convention, problems on each of which its choices differ, and no others'."""
    plain, positive = square(dtype), core(dtype, N=11, M=11)
    late = core(dtype, B=1, H=1, N=513, M=513)
    # For M22: float16 has few low biases, and no mean of what is on one side of zero is zero.
    half = np.tri(4, k=2, dtype=bool)
    half[:, 0], half[0, 1] = False, True  # no row and no opposite of a row is empty
    idle = np.tri(4, k=1, dtype=bool)
    idle[2] = False
    return {
        "mask-means": (plain.but(mask=half), plain.but(mask=PADDED)),
        "grouping": (square(dtype, H=6, G=2),),
        "causal": (core(dtype, N=3).but(causal=True),),
        "window-alignment": (core(dtype, N=3).but(window=(1, 1)),),
        "slopes-alignment": (core(dtype, N=3).but(slopes=np.array([2.0, 1.0, 0.5])),),
        "positions": (plain.but(causal=True, **TAKING_TURNS),),
        "slopes-from": (late.but(causal=True, slopes=np.ones(1)),),
        "slopes-ahead": (plain.but(slopes=np.array([2.0, 1.0, 0.5])),),
        # A small cap, so that what is rough about the rest of a softmax is not taken for a tangent;
        # and a large one, as a difference of sigmoids is rough near zero alone.
        "tanh": (plain.but(softcap=2.0**-4), plain.but(softcap=LARGE[dtype])),
        "softcap": (plain.but(mask=eighths(4, 4), softcap=0.5),),
        "padding-rows": (plain.but(spare=2),),
        "fully-masked": (plain.but(mask=idle), core(dtype, N=8).but(window=(1, 1))),
        "fully-masked-bias": (plain.but(mask=np.where(idle, eighths(4, 4), -np.inf)),),
        "padding-queries": (plain.but(**OF_ONE_TEXT),),
        # Scores of zero, so that a wrong scale does not hide which keys are seen.
        "causality": (plain.but(q=np.zeros_like(plain.q)),),
        "lengths": (core(dtype),),
        "lse-base": (plain,),
        "lse-sink": (plain.but(sinks=np.array([0.5, -1.0, 2.0])),),
        "fully-masked-lse": (plain.but(mask=idle),),
        "parts": () if dtype == "float16" else (positive.but(v=0.5 + np.abs(positive.v)),),
        "products": eleven(),
    }


def aligned(dtype: str) -> Mapping[str, tuple[Problem, ...]]:
    """A problem for a function that takes neither masks nor windows.

    Causality alone masks its first queries fully, if it is aligned with the last key.
    """
    return {"fully-masked": (core(dtype, N=8).but(causal=True),)}


def beside_sinks(dtype: str) -> Mapping[str, tuple[Problem, ...]]:
    """A problem for a function that merges only sinks, as o' exp(lse - logaddexp(lse, t)).

    The scores of a query are one number, from 159 to 251, so that the rounding of lse is all that
    shows. Sinks are 8 to 68 below it. The other problem shows what is wrong with sinks otherwise.
    """
    plain = square(dtype).but(sinks=np.array([0.5, -1.0, 2.0]))
    q = np.broadcast_to(np.arange(10, 16, 0.25).reshape(2, 3, 4, 1), plain.q.shape)
    large = plain.but(q=q, k=np.full_like(plain.k, 11.25), v=np.ones_like(plain.v))
    return {"parts": (large.but(sinks=np.array([152.0, 168.0, 184.0])), plain)}


def eleven() -> tuple[Problem, ...]:
    """A problem of float32 whose scores and values are others where factors have 11 bits.

    Keys are (2^-12, 1) and (1 + 2^-12, 0), where 1 + 2^-12 has 13 bits, and values 1 + 2^-11, of 12
    bits, and 1 + 2^-9, of 10: a function that keeps fewer is off by more than TF32 is. Weights are
    quarters, and their exponentials 1, which nobody makes another.
    """
    q, k, v = (np.zeros((2, 3, 4, 4)) for _ in "qkv")
    q[..., :2], k[..., ::2, :2], k[..., 1::2, :2] = 1, (2.0**-12, 1), (1 + 2.0**-12, 0)
    v[..., 0], v[..., 1], v[..., ::2, 2], v[..., 1::2, 2] = 1 + 2.0**-9, 1 + 2.0**-11, 1, -1
    return (square("float32", D=4).but(q=q, k=k, v=v),)
