"""An attention function as a record: its functions, its conventions, and what it leaves out.

The basic case needs no option at all: 4-D arrays, E = D, sizes of at least one. Everything else is
a capability of `spec.attention.options`, which a record may lack.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from spec.attention.conventions import CONVENTIONS
from spec.attention.notation import Gradients, Problem
from spec.attention.options import KINDS, Capability, kinds_of
from spec.notation import Array, Call
from spec.sizes import THOUSANDS
from spec.subject import Subject, not_offered

USUAL = max(THOUSANDS)  # a function may have a longest sequence, and raise an exception beyond it


@dataclass(frozen=True)
class Implementation(Subject):
    """One way to compute attention: plain functions of a problem, some of which may be left out.

        forward: o (B, H, N, E)          weights: a (B, H, N, M)      lse: (B, H, N)
        backward: Gradients, shaped like q, k and v
        bias_gradient, sink_gradient, slope_gradient: shaped like mask, sinks and slopes
        lse_backward: as backward, for problems in which the log-sum-exp has a cotangent
        partial: Gradients of the inputs named
        training: o, computed while gradients are recorded; forward: as inference computes it
        call: the forward pass as its caller sees it
        unsettled: backward before it is adapted to a convention about fully masked queries,
            where `backward` is

    All return float64 numbers, or raise `Violation` (a result of the wrong shape or dtype) or
    `Refused`. The numbers of float64 results are long double, so that what a clause computes from
    them adds no error.
    """

    forward: Callable[[Problem], Array]
    backward: Callable[[Problem], Gradients] = not_offered
    bias_gradient: Callable[[Problem], Array] = not_offered
    sink_gradient: Callable[[Problem], Array] = not_offered
    slope_gradient: Callable[[Problem], Array] = not_offered
    lse_backward: Callable[[Problem], Gradients] = not_offered
    partial: Callable[[Problem, tuple[str, ...]], Mapping[str, Array]] = not_offered
    weights: Callable[[Problem], Array] = not_offered
    lse: Callable[[Problem], Array] = not_offered
    training: Callable[[Problem], Array] = not_offered
    call: Callable[[Problem], Call] = not_offered
    unsettled: Callable[[Problem], Gradients] = not_offered
    answers: frozenset[str] = field(default=KINDS, kw_only=True)
    differentiates: frozenset[str] = field(default=KINDS, kw_only=True)

    about: ClassVar[str] = "attention"

    choices: ClassVar[Mapping[str, tuple[str, ...]]] = CONVENTIONS
    otherwise: ClassVar[Mapping[str, str | None]] = {
        Capability.FUTURE: Capability.CAUSAL,
        Capability.LENGTHS: None,
        Capability.BATCHES: None,
        Capability.SEVERAL: None,
        Capability.QUERIES: None,
    }
    offering: ClassVar[Mapping[str, str]] = {
        Capability.GRADIENTS: "backward",
        Capability.PARTIAL_GRADIENTS: "partial",
        Capability.WEIGHTS: "weights",
        Capability.LSE: "lse",
        Capability.TRAINING: "training",
        Capability.BIAS_GRADIENT: "bias_gradient",
        Capability.SINK_GRADIENT: "sink_gradient",
        Capability.SLOPE_GRADIENT: "slope_gradient",
        Capability.LSE_GRADIENT: "lse_backward",
        Capability.CALL: "call",
    }

    def kinds_of(self, problem: Problem) -> frozenset[str]:
        """The kinds of problem that `problem` belongs to; empty in the basic case."""
        sizes = {"lengths": [problem.M], "widths": [problem.D, problem.E]}
        if Capability.QUERIES in self.answers:  # a single query is exempt
            sizes["lengths"].append(problem.N)
        beside = {
            f"takes {name} that are no multiples of {number}"
            for name, number in self.multiples.items()
            if any(size % number for size in sizes[name])
        }
        return self.counted(kinds_of(problem)) | beside

    def is_basic(self, problem: Problem) -> bool:
        """Whether a problem is in the basic case; a sequence of more than USUAL tokens is not."""
        return super().is_basic(problem) and max(problem.N, problem.M) <= USUAL
