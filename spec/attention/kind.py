"""Attention functions: four arrays in, one out, and a good many options."""

import inspect
from collections.abc import Mapping

from spec.abilities import WORDS, Causes, Conventions, Counted, Functions, Reports, Targets, Trials
from spec.attention import rounding
from spec.attention.excluded import excluded
from spec.attention.explaining.likeness import arithmetics, at_once, looks_like
from spec.attention.explaining.pictures import pictures
from spec.attention.features import VOCABULARY
from spec.attention.known import KNOWN
from spec.attention.meanings import MEANINGS
from spec.attention.mistakes import MISTAKES
from spec.attention.notation import Problem
from spec.attention.options import CAUSAL, MASK, PAIRS, Capability, together
from spec.attention.plug import at_large, implementation, program
from spec.attention.plug.conventions import under
from spec.attention.plug.layouts import LAYOUTS
from spec.attention.plug.lenses import LENSES
from spec.attention.plug.narrowing import TILES, fitted, narrower
from spec.attention.plug.spelling import SPELLINGS
from spec.attention.plug.trials import (
    aligned,
    beside_sinks,
    core,
    kinds,
    of_functions,
    of_many,
    square,
    telling,
)
from spec.attention.plug.units import of_sums
from spec.attention.record import Implementation
from spec.attention.simplify import WAYS, twists
from spec.attention.truth import truth
from spec.clause import Clause
from spec.kind import Kind

TILED = (Capability.MASK, Capability.BIAS, Capability.CAUSAL, together(MASK, CAUSAL))
IDLE = "that hides all keys from a query"
UNTRAINED = "the gradient of the attention sinks: there is none, so training does not change them"
BESIDE = (
    Capability.FORMS,
    Capability.SLOPES_EACH,
    Capability.WIDTHS_BESIDE,
    Capability.LABELS,
    Capability.OTHERS,
)


def special(record: Implementation, problem: Problem) -> list[str]:
    """The features of a problem; both options name a pair, and the mask names its form."""
    told = {*(together(*pair) for pair in PAIRS), *BESIDE}
    found = sorted(kind.removeprefix("takes ") for kind in record.kinds_of(problem) - told)
    hides = problem.mask is not None and problem.idle.any()
    return [*found, IDLE] if hides else found


def coverage(clause: Clause, record: Implementation, problem: Problem) -> Counted | None:
    """The rows of a problem of section A: with gradients, where there are any."""
    differentiated = Capability.GRADIENTS in record.offers
    if clause.section != "A" or (Capability.GRADIENTS in clause.needs) != differentiated:
        return None
    seen = rounding.coverage(problem)
    return seen.rows, seen.capped, seen.silent


def largest(problem: Problem) -> Mapping[str, int]:
    """The sizes of a problem of which a certificate names the largest."""
    heads = problem.B * problem.H
    scores = heads * problem.N * problem.M
    return {"N": problem.N, "M": problem.M, "D": problem.D, "B·H": heads, "scores": scores}


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
TARGETS = Targets(
    told=lambda found: not inspect.isclass(found),
    layouts={name: layout.words for name, layout in LAYOUTS.items()},
    spellings=tuple(SPELLINGS),
    multiples=("lengths", "widths"),
    several="; return the output alone, the log-sum-exp as well if called with return_lse=True or "
    "by an attribute .lse, and the weights by an attribute .weights",
    narrower=narrower,
    program=program,
    known=KNOWN,
)
FUNCTIONS = Functions(
    ask={"partial": lambda record, problem: record.partial(problem, ("k",))},
    fitted=fitted,
    words={
        **WORDS,
        "partial": "gradients of a subset of the inputs",
        "bias_gradient": "gradients of the mask",
        "sink_gradient": "gradients of the sinks",
        "slope_gradient": "gradients of the slopes",
        "lse": "the log-sum-exp",
        "training": "the output as training computes it",
    },
    special=special,
    compares={
        "forward": ("A1",),
        "training": ("A10",),
        "weights": ("A6",),
        "lse": ("A7",),
        "backward": ("A2", "A3", "A4"),
        "bias_gradient": ("A5",),
        "sink_gradient": ("Z14",),
        "slope_gradient": ("Y13",),
        "lse_backward": ("S16",),
    },
    parts={"A2": "dq", "A3": "dk", "A4": "dv"},
    telltale=dict.fromkeys(("partial", "unsettled", "lse_backward"), "backward"),
)
TRIALS = Trials(
    kinds=kinds,
    of_many=of_many,
    of_functions=of_functions,
    learned={"sink_gradient": UNTRAINED},
    tiles=dict.fromkeys(TILED, TILES),
    beyond=lambda dtype: core(dtype, D=7),
    precise=(square("float64", D=5), square("float64", N=1, M=1)),
    at_large=at_large,
)
CONVENTIONS = Conventions(
    under=under,
    telling=telling,
    telling_else=aligned,
    told_by={**dict.fromkeys(("lse-base", "lse-sink", "fully-masked-lse"), "A7"), "parts": "M22"},
    telling_also=beside_sinks,
    shows=of_sums,
)
CAUSES = Causes(
    twists=twists, lenses=LENSES, arithmetics=arithmetics, at_once=at_once, similar=looks_like
)
KIND = Kind(
    about="attention",
    noun="an attention function",
    sections=SECTIONS,
    problem=Problem,
    definition="A1",
    core=square,
    truth=truth,
    mistakes=MISTAKES,
    load=implementation,
    simplify=WAYS,
    vocabulary=VOCABULARY,
    meanings=MEANINGS,
    targets=TARGETS,
    functions=FUNCTIONS,
    trials=TRIALS,
    conventions=CONVENTIONS,
    causes=CAUSES,
    reports=Reports(
        coverage=coverage, largest=largest, hints=HINTS, pictures=pictures, excluded=excluded
    ),
)
