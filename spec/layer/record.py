"""A layer as a record: its functions, and what it may leave out.

As with an attention function, the core needs no option at all: self-attention, with biases,
in batches, and no mask. A layer of torch's kind says True
in a mask for what is forbidden; the problems here do so too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, get_args

from spec.attention import options
from spec.attention.conventions import CONVENTIONS, OF_UNITS
from spec.layer.notation import LayerGradients, LayerProblem, Parameters, Turn
from spec.notation import Array, Call
from spec.subject import GRADIENTS, Subject, holding, not_offered


class Capability(StrEnum):
    """The capabilities that a clause may need of a layer beyond its output in the basic case."""

    GRADIENTS = options.Capability.GRADIENTS
    WEIGHTS = options.Capability.WEIGHTS
    CALL = options.Capability.CALL
    MASK = options.Capability.MASK
    BIAS = options.Capability.BIAS
    CAUSAL = options.Capability.CAUSAL
    WIDTHS = options.Capability.WIDTHS
    GROUPS = options.Capability.GROUPS
    FUTURE = options.Capability.FUTURE

    STATE = "gives its parameters back"
    STEP = "takes a step of gradient descent"
    PADDING = "takes a key padding mask"
    HEAD_MASK = "takes a mask for every head"
    EACH_HEAD = "returns the weights of each head"
    MEAN = "returns the mean of the weights of the heads"
    STILL = "leaves queries and keys as they are projected"
    APART = "takes queries and keys of their own"
    QUERY_BIAS = "can be built with a bias of queries"
    KEY_BIAS = "can be built with a bias of keys"
    VALUE_BIAS = "can be built with a bias of values"
    OUTPUT_BIAS = "can be built with a bias of outputs"
    UNBIASED = "can be built without biases"
    UNBATCHED = "takes a problem without a batch axis"
    MANY_TOKENS = "takes more than 33 tokens"
    EVALUATION = "knows training from evaluation"


OFFERING: Mapping[str, str] = {  # what is offered by a function that is there
    Capability.WEIGHTS: "weights",
    Capability.GRADIENTS: "backward",
    Capability.STEP: "step",
    Capability.STATE: "state",
    Capability.EVALUATION: "sequence",
    Capability.CALL: "call",
}
BUILT_WITH: Mapping[str, Capability] = {  # that a layer may have, and what it has to be built with
    "b_q": Capability.QUERY_BIAS,
    "b_k": Capability.KEY_BIAS,
    "b_v": Capability.VALUE_BIAS,
    "b_o": Capability.OUTPUT_BIAS,
}
SIZED = ("A", "H")  # the sizes in `multiples` of the record of one object: it has no others
OTHERS = "takes other sizes than it was built with"  # a kind of problem that no object takes
FEW = 33  # tokens, which every layer takes; some are built for so many and no more
KINDS = frozenset(Capability).difference(OFFERING)  # of problems


def kinds_of(problem: LayerProblem) -> frozenset[str]:
    """The kinds of problem that `problem` is, what usually belongs to the core among them."""
    mask = problem.mask
    tests = {
        Capability.MASK: mask is not None and mask.dtype == bool,
        Capability.BIAS: mask is not None and mask.dtype != bool,
        Capability.HEAD_MASK: mask is not None and mask.ndim == 3,
        Capability.EACH_HEAD: problem.asks == "heads",
        Capability.MEAN: problem.asks == "mean",
        Capability.CAUSAL: problem.causal,
        Capability.FUTURE: not problem.causal,
        Capability.PADDING: problem.padding is not None,
        Capability.WIDTHS: problem.own_widths,
        Capability.UNBIASED: not problem.biases,
        Capability.UNBATCHED: not problem.batched,
        Capability.MANY_TOKENS: max(problem.N, problem.M) > FEW,
        Capability.APART: problem.arrays > 1,
        Capability.GROUPS: problem.key_heads != problem.H,
    }
    return holding(tests).union(BUILT_WITH[name] for name in problem.biases)


@dataclass(frozen=True)
class Layer(Subject):
    """One multi-head attention layer: plain functions of a problem, and what they leave out.

    forward: y (B, N, A)    weights: (B, N, M) or (B, H, N, M), as the problem asks
    backward: LayerGradients    step: the Parameters after one step of gradient descent
        at a rate, p - rate dp    state: the Parameters that it gives back once loaded
    call: the forward pass as its caller sees it
    sequence: the outputs of several problems put one after the other to one object
        with the parameters of the first, in the mode that each asks for
    The rest is as `spec.subject.Subject` has it.
    """

    forward: Callable[[LayerProblem], Array]
    weights: Callable[[LayerProblem], Array] = not_offered
    backward: Callable[[LayerProblem], LayerGradients] = not_offered
    step: Callable[[LayerProblem, float], Parameters] = not_offered
    state: Callable[[LayerProblem], Parameters] = not_offered
    sequence: Callable[[tuple[LayerProblem, ...]], tuple[Array, ...]] = not_offered
    call: Callable[[LayerProblem], Call] = not_offered
    answers: frozenset[str] = field(default=KINDS, kw_only=True)
    differentiates: frozenset[str] = field(default=KINDS, kw_only=True)

    about: ClassVar[str] = "layer"
    offering: ClassVar[Mapping[str, str]] = OFFERING
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "fully-masked": CONVENTIONS["fully-masked"],
        "fully-masked-bias": CONVENTIONS["fully-masked-bias"],
        "mask-means": ("forbid", "attend"),  # its caller writes the causal mask out
        "causality": CONVENTIONS["causality"],
        **OF_UNITS,
        **GRADIENTS,
        "rotary": get_args(Turn),
    }
    otherwise: ClassVar[Mapping[str, str | None]] = {
        Capability.FUTURE: Capability.CAUSAL,
        **dict.fromkeys(BUILT_WITH.values(), Capability.UNBIASED),
        Capability.APART: None,
    }

    def kinds_of(self, problem: LayerProblem | tuple[LayerProblem, ...]) -> frozenset[str]:
        """The kinds of problem that `problem` is, or that several are; empty for the core."""
        several = problem if isinstance(problem, tuple) else (problem,)
        sizes = [self.multiples[name] for name in SIZED] if self.multiples else []
        others = any(sizes and sizes != [one.A, one.H] for one in several)
        found = (self.counted(kinds_of(one)) for one in several)
        return frozenset({OTHERS} if others else ()).union(*found)
