"""Small problems with which a layer is tried out before anything is judged."""

from collections.abc import Mapping

import numpy as np

from spec.abilities import Problems
from spec.attention.conventions import products_as
from spec.entries import bits_of_tf32, eighths
from spec.layer import moves
from spec.layer.domain import MOST
from spec.layer.notation import LayerProblem, Parameters
from spec.layer.record import BUILT_WITH, SIZED, Capability, Layer


def apart(dtype: str, K: int = 6, V: int = 6) -> LayerProblem:
    """A small problem with three inputs, whose lengths differ, and widths if they are to."""
    B, H, N, M, A = 2, 3, 4, 5, 6
    return LayerProblem(
        query=eighths(B, N, A, seed=1),
        key=eighths(B, M, K, seed=2),
        value=eighths(B, M, V, seed=3),
        dout=eighths(B, N, A, seed=4),
        parameters=Parameters(
            eighths(A, A, seed=5),
            eighths(A, K, seed=6),
            eighths(A, V, seed=7),
            eighths(A, A, seed=8),
            *(eighths(A, seed=10 + i) for i in range(4)),
        ),
        heads=H,
        dtype=dtype,
        rounding="strict" if dtype in ("float64", "float32") else "eager",
    )


def core(dtype: str) -> LayerProblem:
    """A small problem of the core: one text, read by itself."""
    return apart(dtype).but(arrays=1)


def fitted(record: Layer, problem: LayerProblem) -> LayerProblem:
    """A problem as one of the core of `record`: as it turns, with its biases, causal if always."""
    chosen, sizes = record.chosen, record.multiples
    if sizes:
        problem = moves.sized(problem, *(sizes[name] for name in SIZED))
    problem = problem.but(turn=chosen["rotary"], products=products_as(chosen))
    if Capability.FUTURE not in record.answers:
        problem = problem.but(causal=True)
    return problem.of(
        **{name: None for name in BUILT_WITH if BUILT_WITH[name] not in record.answers}
    )


def kinds(dtype: str) -> Mapping[str, Problems]:
    """For each kind of problem, some that are of that kind and, where it can be, of no other."""
    plain, three = core(dtype), apart(dtype)
    hidden = ~np.tri(4, k=1, dtype=bool)
    bias = np.where(hidden, -np.inf, eighths(4, 4))
    of_heads = np.broadcast_to(hidden, (6, 4, 4)).copy()
    padding = np.arange(4) >= np.array([[4], [3]])
    return {
        Capability.MASK: (plain.but(mask=hidden),),
        Capability.BIAS: (plain.but(mask=bias), plain.but(mask=eighths(4, 4))),
        Capability.CAUSAL: (plain.but(causal=True),),
        Capability.PADDING: (plain.but(padding=padding),),
        Capability.HEAD_MASK: (
            plain.but(mask=of_heads),
            plain.but(mask=np.broadcast_to(bias, (6, 4, 4)).copy()),
        ),
        Capability.EACH_HEAD: (plain.but(asks="heads"),),
        Capability.MEAN: (plain.but(asks="mean"),),
        Capability.APART: (three, three.but(arrays=2)),
        Capability.WIDTHS: (apart(dtype, K=5, V=7),),
        Capability.UNBIASED: (plain.of(**dict.fromkeys(BUILT_WITH)),),
        Capability.GROUPS: (_sharing(plain),),
        Capability.UNBATCHED: (moves.of_batch(plain, 0).but(batched=False),),
        Capability.MANY_TOKENS: (plain.part("N", np.arange(MOST["N"]) % plain.N),),
    }


def _sharing(problem: LayerProblem) -> LayerProblem:
    """The problem with one key head for all heads."""
    D, named = problem.D, problem.parameters.named()
    return problem.of(**{name: named[name][:D] for name in ("W_k", "W_v", "b_k", "b_v")})


def of_functions(dtype: str) -> Mapping[str, tuple[str, Problems]]:
    """Functions that may refuse even the core, and what they are tried on."""
    plain = core(dtype)
    asking = (plain.but(asks="mean"), plain.but(asks="heads"))
    return {
        "backward": (Capability.GRADIENTS, (plain,)),
        "weights": (Capability.WEIGHTS, asking),
        "step": (Capability.STEP, (plain,)),
        "state": (Capability.STATE, (plain,)),
    }


def telling(dtype: str) -> Mapping[str, tuple[LayerProblem, ...]]:
    """For each convention, problems on each of which its choices differ, and no others'."""
    plain = core(dtype)
    hidden = ~np.tri(4, k=1, dtype=bool)
    hidden[0, 1:3] = False, True
    idle = hidden.copy()
    idle[2] = True
    padding = np.arange(4) >= np.array([[3], [2]])
    whole = np.arange(4) >= np.array([[0], [2]])
    return {
        "mask-means": (plain.but(mask=hidden), plain.but(padding=padding)),
        "fully-masked": (plain.but(mask=idle), plain.but(padding=whole)),
        "fully-masked-bias": (plain.but(mask=np.where(idle, -np.inf, 0.0)),),
        "causality": (_means(plain),),
        "products": _of_bits(),
    }


def _means(problem: LayerProblem) -> LayerProblem:
    """The problem with means of its tokens as outputs: causality changes them, little else does.

    All scores are zero, no bias adds anything, and each matrix is its own transpose: a layer that
    is always causal shows it even where its scale, a bias or the axes of a matrix are wrong.
    """
    named = problem.parameters.named()
    flat = {name: np.full_like(x, 0.125 * (name in ("W_v", "W_o"))) for name, x in named.items()}
    return problem.of(**flat)


def _of_bits() -> tuple[LayerProblem, ...]:
    """A token of numbers that TF32 makes others, and one that fewer bits do; in float32.

    It is alone, so that all of its weight is one; and no number of its projections is below zero.
    """
    one = core("float32").part("N", np.arange(1))
    named = one.parameters.named()
    one = one.of(**{name: np.abs(x) for name, x in named.items() if name not in BUILT_WITH})
    return tuple(one.but(query=x, key=x, value=x) for x in bits_of_tf32(one.query))
