"""The executable specification of multi-head attention: the table of contents.

Read `notation` for the words and `definition` for what attention is; then the
sections, in this order. Each opens with its idea and its derivation; each
clause is a sentence, a formula and a check of a few lines.

    A agreement       the output and all that is shown are those of the definition
      gradients       and so are the gradients
    S softmax         the weights are a softmax, whether or not anybody shows them
      large_scores    however large the scores are
      log_sum_exp     what it divides by is a smooth maximum
      jacobian        and its derivative has a row term
    V values          the output is a weighted mean, and only values are averaged
    K keys            keys have no origin
    B bases           only inner products matter
      scale           and the scale multiplies them
    P permutations    keys are a set, queries are a batch
    M masking         the forbidden does not exist
      forbidden       to the bit
      idleness        and who may see nothing returns nothing
      biases          what is between seeing and not seeing is added
    C causality       under causality the future does not exist
      gradient_flow   and no gradient reaches it
      decoding        so a text may be read token by token
    H heads           heads do not meet, and a group of them shares its keys
    X blocks          attention over parts merges into attention over the whole
    T calls           the call is a function

Around attention, each a small specification of its own, in a package of its own:

    C cache           decoding with a cache is decoding without one
    L layer           a layer is attention between projections
    R positions       how attention comes to know what came first
    F feed_forward    the half of a block that is not attention
    D dropout         weights left out by chance

`options` has a row for each option that a problem may ask for, `rounding` derives how
far a correct implementation may stray, `problems` says where the clauses quantify,
`proofs` what is proved, and `mistakes` holds the plausible wrong implementations that
they must reject.

    from spec import certify
    print(certify("torch.nn.functional:scaled_dot_product_attention"))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spec import cache, dropout, feed_forward, layer, positions
from spec.attention.clauses import (
    agreement,
    bases,
    biases,
    blocks,
    calls,
    causality,
    decoding,
    forbidden,
    gradient_flow,
    gradients,
    heads,
    idleness,
    jacobian,
    keys,
    large_scores,
    log_sum_exp,
    masking,
    permutations,
    scale,
    softmax,
    values,
)
from spec.attention.notation import Gradients, Problem
from spec.attention.record import Implementation
from spec.clause import Clause
from spec.comparison import Violation

if TYPE_CHECKING:
    from spec.certification import assert_attention, certify, parametrize_with_clauses, rerun

__all__ = [
    "CLAUSES",
    "SECTIONS",
    "Clause",
    "Gradients",
    "Implementation",
    "Problem",
    "Violation",
    "about",
    "assert_attention",
    "certify",
    "parametrize_with_clauses",
    "rerun",
]

SECTIONS = (
    agreement,
    gradients,
    softmax,
    large_scores,
    log_sum_exp,
    jacobian,
    values,
    keys,
    bases,
    scale,
    permutations,
    masking,
    forbidden,
    idleness,
    biases,
    causality,
    gradient_flow,
    decoding,
    heads,
    blocks,
    calls,
    *cache.SECTIONS,
    *layer.SECTIONS,
    *positions.SECTIONS,
    *feed_forward.SECTIONS,
    *dropout.SECTIONS,
)


_FOUND = [x for section in SECTIONS for x in vars(section).values() if isinstance(x, Clause)]
_LETTERS = list(dict.fromkeys(clause.section for clause in _FOUND))

CLAUSES = {
    clause.number: clause
    for clause in sorted(
        _FOUND, key=lambda c: (_LETTERS.index(c.section), int(c.number[len(c.section) :]))
    )
}


def about(kind: str) -> dict[str, Clause]:
    """The clauses about one kind of subject, by number: "attention", "layer", "cache", ..."""
    return {number: clause for number, clause in CLAUSES.items() if clause.about == kind}


def __getattr__(name: str) -> Any:
    """The doors, opened when they are used: to read the specification takes no certification."""
    if name in ("assert_attention", "certify", "parametrize_with_clauses", "rerun"):
        return getattr(import_module("spec.certification"), name)
    raise AttributeError(f"module 'spec' has no attribute {name!r}")
