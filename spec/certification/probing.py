"""What an implementation refuses, found out on tiny problems before anything is judged.

An error is not a wrong answer. Each kind of problem is put once or twice in each
dtype, forward and backward; a kind that is always refused is left out of what is
drawn, and the certificate lists it with the message. A dtype whose core is
refused is left out as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec import rounding
from spec.clause import Violation
from spec.implementation import Capability, Implementation, Refused, not_offered
from spec.notation import Array, Problem


@dataclass(frozen=True)
class Refusal:
    """What is refused, in which dtype and direction, and the words in which it is.

    crashed: nobody knows, as the process died or hung when it was asked.
    """

    what: str
    dtype: str
    direction: str
    message: str
    crashed: bool = False


@dataclass(frozen=True)
class Probed:
    """What is left to judge in each dtype, what is refused, and what else was seen."""

    by_dtype: Mapping[str, Implementation]
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()


def lattice(*shape: int, seed: int = 0) -> Array:
    """Eighths between -1 and 1, the same on every day; every dtype has them exactly."""
    return np.random.default_rng((seed, *shape)).integers(-8, 9, shape) / 8


def core(dtype: str, **sizes: int) -> Problem:
    """A small problem of the core: sizes differ between axes, except that E = D and G = H."""
    n = {"B": 2, "H": 3, "N": 4, "M": 5, "D": 2} | sizes
    n = {"G": n["H"], "E": n["D"]} | n
    return Problem(
        q=lattice(n["B"], n["H"], n["N"], n["D"], seed=1),
        k=lattice(n["B"], n["G"], n["M"], n["D"], seed=2),
        v=lattice(n["B"], n["G"], n["M"], n["E"], seed=3),
        dout=lattice(n["B"], n["H"], n["N"], n["E"], seed=4),
        dtype=dtype,
        rounding="strict" if dtype in ("float64", "float32") else "eager",
    )


def kinds(dtype: str) -> Mapping[Capability, tuple[Problem, ...]]:
    """For each kind of problem, some that are of that kind and of no other."""
    plain = core(dtype)
    mask = np.tri(4, 5, k=1, dtype=bool)
    bias = np.where(mask, lattice(4, 5), -np.inf)
    whole = np.broadcast_to(mask, (2, 3, 4, 5)).copy()
    zeros = ({"N": 0}, {"M": 0}, {"B": 0}, {"D": 0}, {"D": 0, "N": 0})
    return {
        Capability.MASK: (plain.but(mask=whole), plain.but(mask=mask)),
        Capability.BIAS: (
            plain.but(mask=np.where(whole, lattice(4, 5), -np.inf)),
            plain.but(mask=bias),
            plain.but(mask=lattice(4, 5)),
        ),
        Capability.CAUSAL: (core(dtype, N=5).but(causal=True), plain.but(causal=True)),
        Capability.MASK_AND_CAUSAL: (
            plain.but(mask=whole, causal=True),
            plain.but(mask=mask, causal=True),
            plain.but(mask=bias, causal=True),
        ),
        Capability.SCALE: (plain.but(scale=0.5),),
        Capability.GROUPS: (core(dtype, H=6, G=2),),
        Capability.WIDTHS: (core(dtype, E=3),),
        Capability.EMPTY: tuple(core(dtype, **sizes) for sizes in zeros),
        Capability.STRIDES: (plain.but(memory="strided"),),
    }


def probed(implementation: Implementation) -> Probed:
    """The implementation narrowed to what it answers, dtype by dtype."""
    by_dtype: dict[str, Implementation] = {}
    refusals: list[Refusal] = []
    for dtype in implementation.dtypes:
        message = _refusal(implementation.forward, core(dtype))
        if message is None:
            by_dtype[dtype] = _narrowed(implementation, dtype, refusals)
        else:
            refusals.append(Refusal(dtype, dtype, "forward", message))
    return Probed(by_dtype, tuple(refusals), tuple(_notes(by_dtype)))


def _narrowed(
    implementation: Implementation, dtype: str, refusals: list[Refusal]
) -> Implementation:
    """The implementation as it is in one dtype; what it refuses is added to `refusals`."""
    left = _with_functions_that_answer(implementation, dtype, refusals)
    answers, differentiates = left.answers, left.differentiates
    for kind, problems in kinds(dtype).items():
        if kind not in answers:
            differentiates -= {kind}
            continue
        message = _always(left.forward, problems)
        if message is not None:
            refusals.append(Refusal(kind.value, dtype, "forward", message))
            answers -= {kind}
            differentiates -= {kind}
        elif left.backward is not not_offered and kind in differentiates:
            message = _always(left.backward, problems)
            if message is not None:
                refusals.append(Refusal(kind.value, dtype, "backward", message))
                differentiates -= {kind}
    return left.but(answers=answers, differentiates=differentiates, dtypes=(dtype,))


def _with_functions_that_answer(
    implementation: Implementation, dtype: str, refusals: list[Refusal]
) -> Implementation:
    """Without the functions that refuse even the core."""
    bias = kinds(dtype)[Capability.BIAS]
    trials: Mapping[str, tuple[Capability, Callable[[], str | None]]] = {
        "backward": (Capability.GRADIENTS, _trial(implementation.backward, core(dtype))),
        "partial": (
            Capability.PARTIAL_GRADIENTS,
            _trial(lambda problem: implementation.partial(problem, ("k",)), core(dtype)),
        ),
        "weights": (Capability.WEIGHTS, _trial(implementation.weights, core(dtype))),
        "lse": (Capability.LSE, _trial(implementation.lse, core(dtype))),
        "bias_gradient": (Capability.BIAS_GRADIENT, _trial(implementation.bias_gradient, *bias)),
    }
    lost: dict[str, Any] = {}
    for name, (capability, trial) in trials.items():
        if getattr(implementation, name) is not_offered:
            continue
        if name == "bias_gradient" and Capability.BIAS not in implementation.answers:
            lost[name] = not_offered
            continue
        message = trial()
        if message is not None:
            lost[name] = not_offered
            refusals.append(Refusal(capability.value, dtype, "backward", message))
    return implementation.but(**lost)


def _trial(function: Callable[[Problem], Any], *problems: Problem) -> Callable[[], str | None]:
    return lambda: _always(function, problems)


def _always(function: Callable[[Problem], Any], problems: tuple[Problem, ...]) -> str | None:
    """The first message, if every one of the problems is refused."""
    messages = []
    for problem in problems:
        message = _refusal(function, problem)
        if message is None:
            return None
        messages.append(message)
    return messages[0]


def _refusal(function: Callable[[Problem], Any], problem: Problem) -> str | None:
    """The words of a refusal; None for an answer, even for a wrong one."""
    try:
        with np.errstate(all="ignore"):
            function(problem)
    except Refused as refusal:
        return str(refusal)
    except Violation:
        return None
    return None


def _notes(by_dtype: Mapping[str, Implementation]) -> list[str]:
    """That float64 has the accuracy of float32, where it has."""
    if "float64" not in by_dtype:
        return []
    problem = core("float64", D=5)
    try:
        out = by_dtype["float64"].forward(problem)
    except (Refused, Violation):
        return []
    error = np.abs(out - rounding.reference(problem).o)
    exact = (error <= rounding.of_output(problem)).all()
    single = (error <= rounding.of_output(problem.but(dtype="float32"))).all()
    return ["computes float64 in float32"] if single and not exact else []
