"""Attention functions: four arrays in, one out, and a good many options."""

import inspect
from collections.abc import Mapping, Sequence

import numpy as np

from spec.attention import rounding
from spec.attention.explaining.likeness import looks_like
from spec.attention.explaining.pictures import pictures
from spec.attention.features import VOCABULARY
from spec.attention.known import KNOWN
from spec.attention.meanings import MEANINGS
from spec.attention.mistakes import MISTAKES
from spec.attention.mistakes.making import ARITHMETICS
from spec.attention.mistakes.making import at_once as program_of
from spec.attention.notation import Problem
from spec.attention.options import CAUSAL, MASK, PAIRS, Capability, together
from spec.attention.plug import at_large, implementation, program
from spec.attention.plug.conventions import under
from spec.attention.plug.layouts import LAYOUTS
from spec.attention.plug.lenses import LENSES
from spec.attention.plug.narrowing import TILES, fitted, narrower
from spec.attention.plug.spelling import SPELLINGS
from spec.attention.plug.trials import aligned, core, kinds, of_many, square, telling
from spec.attention.plug.units import of_sums
from spec.attention.record import Implementation
from spec.attention.simplify import WAYS, twists
from spec.attention.truth import truth
from spec.clause import Clause
from spec.kind import ASKED, Counted, Kind, Problems
from spec.mistake import Mistake

TILED = (Capability.MASK, Capability.BIAS, Capability.CAUSAL, together(MASK, CAUSAL))
IDLE = "that hides all keys from a query"
FUNCTIONS = {
    **ASKED,
    "partial": "gradients of a subset of the inputs",
    "bias_gradient": "gradients of the mask",
    "sink_gradient": "gradients of the sinks",
    "slope_gradient": "gradients of the slopes",
    "lse": "the log-sum-exp",
    "training": "the output as training computes it",
}

COMPARES = {
    "forward": ("A1",),
    "training": ("A10",),
    "weights": ("A6",),
    "lse": ("A7",),
    "backward": ("A2", "A3", "A4"),
    "bias_gradient": ("A5",),
    "sink_gradient": ("Z14",),
    "slope_gradient": ("Y13",),
    "lse_backward": ("S16",),
}

OF_OPTION = {
    "bias_gradient": Capability.BIAS,
    "sink_gradient": Capability.SINKS,
    "slope_gradient": Capability.SLOPES,
}


def trials(dtype: str) -> Mapping[str, tuple[str, Problems]]:
    """Functions that may refuse even the core, and what they are tried on."""
    plain, small = (square(dtype),), kinds(dtype)
    offering = Implementation.offering.items()
    words = {name: capability for capability, name in offering if name != "call"}
    tried: dict[str, Problems] = {name: small[option] for name, option in OF_OPTION.items()}
    alone = {"dlse": np.ones(plain[0].dout.shape[:3]), "dout": np.zeros(plain[0].dout.shape)}
    tried["lse_backward"] = (plain[0].but(**alone),)
    return {name: (capability, tried.get(name, plain)) for name, capability in words.items()}


BESIDE = (
    Capability.FORMS,
    Capability.SLOPES_EACH,
    Capability.WIDTHS_BESIDE,
    Capability.LABELS,
    Capability.OTHERS,
)


def words(record: Implementation, problem: Problem) -> list[str]:
    """The features of a problem; both options name a pair, and the mask names its form."""
    told = {*(together(*pair) for pair in PAIRS), *BESIDE}
    found = sorted(kind.removeprefix("takes ") for kind in record.kinds_of(problem) - told)
    hides = problem.mask is not None and problem.idle.any()
    return [*found, IDLE] if hides else found


def at_once(mistakes: Sequence[Mistake]) -> Implementation | None:
    """Several mistakes as one record; None where they cannot be."""
    made = program_of(mistakes)
    return None if made is None else implementation(made, name=made.__name__, backend="numpy")


def arithmetics(mistake: Mistake) -> Sequence[Implementation]:
    """A mistake as it is in other arithmetics: that of the arrays' format, and float64."""
    made = (at_once((mistake, how)) for how in ARITHMETICS)
    return [record for record in made if record is not None]


def coverage(clause: Clause, record: Implementation, problem: Problem) -> Counted | None:
    """The rows of a problem of section A: with gradients, where there are any."""
    differentiated = Capability.GRADIENTS in record.offers
    if clause.section != "A" or (Capability.GRADIENTS in clause.needs) != differentiated:
        return None
    seen = rounding.coverage(problem)
    return seen.rows, seen.capped, seen.silent


SECTIONS = {
    "A": "agreement",
    "S": "softmax",
    "V": "values",
    "K": "keys",
    "B": "bases",
    "P": "permutations",
    "M": "masks",
    "C": "causality",
    "W": "windows",
    "U": "soft-caps",
    "Z": "attention sinks",
    "Y": "ALiBi slopes",
    "I": "positions",
    "J": "packing",
    "H": "heads",
    "X": "parts",
    "T": "calls",
}
ONE_MASK = (
    "If the target does not take {kind} masks, let it raise an exception for them, or test it with "
    '--where "no {mask}".'
)
OVERFLOW = (
    "Subtract the maximum of each query's scores before exp, which overflows above 11 in float16, "
    "88 in float32 and 709 in float64."
)
HINTS = {
    "scores out of the range of exp": OVERFLOW,
    "an additive mask": ONE_MASK.format(kind="additive", mask="additive mask"),
    "a boolean mask": ONE_MASK.format(kind="boolean", mask="boolean mask"),
}
KIND: Kind = Kind(
    about="attention",
    noun="an attention function",
    sections=SECTIONS,
    several="; return the output alone, and give the rest by attributes such as .weights and .lse",
    problem=Problem,
    definition="A1",
    core=square,
    beyond=lambda dtype: core(dtype, D=7),
    fitted=fitted,
    truth=truth,
    mistakes=MISTAKES,
    load=implementation,
    told=lambda found: not inspect.isclass(found),
    layouts={name: layout.words for name, layout in LAYOUTS.items()},
    spellings=tuple(SPELLINGS),
    narrower=narrower,
    multiples=("lengths", "widths"),
    pictures=pictures,
    tiles=dict.fromkeys(TILED, TILES),
    kinds=kinds,
    of_many=of_many,
    trials=trials,
    ask={"partial": lambda record, problem: record.partial(problem, ("k",))},
    simplify=WAYS,
    twists=twists,
    under=under,
    telling=telling,
    telling_else=aligned,
    shows=of_sums,
    told_by={**dict.fromkeys(("lse-base", "lse-sink", "fully-masked-lse"), "A7"), "parts": "M22"},
    precise=lambda dtype: square(dtype, D=5),
    trivial=lambda dtype: square(dtype, N=1, M=1),
    similar=lambda _, record, problem, fits: looks_like(KIND, record, problem, fits),
    at_once=at_once,
    arithmetics=arithmetics,
    words=words,
    asked=FUNCTIONS,
    coverage=coverage,
    program=program,
    known=KNOWN,
    lenses=LENSES,
    telltale=dict.fromkeys(("partial", "unsettled", "lse_backward"), "backward"),
    compares=COMPARES,
    vocabulary=VOCABULARY,
    meanings=MEANINGS,
    hints=HINTS,
    at_large=at_large,
)
