"""The attention layer: attention between four projections.

Read in this order:

    notation     parameters, problems, gradients
    definition   what a layer computes
    record       what is tested, and what it may leave out
    domain       the problems that clauses are tested on
    rounding     the error bounds of a correct layer
    state        torch's names for the parameters
    moves        ways to change a problem into another one
    mistakes     known bugs of layers
    proofs       what is proved of the clauses, and for which sizes

and the clauses, section L:

    agreement    a layer is attention between four projections
    heads        each head uses its own block of every projection
    biases       the effect of each bias on the output and on the gradients
    gradients    symmetries of the heads give identities between gradients
    masks        padding, masks and causality exclude keys
    added        a float mask is added to the scores
    idleness     a fully masked query returns the output bias
    texts        batch elements are independent, and tokens have no order
    calls        calls have no side effects
    single_sizes the output is correct at every size

A layer is a class that is built and called like `torch.nn.MultiheadAttention`.
"""

from spec.layer.clauses import (
    added,
    agreement,
    biases,
    calls,
    gradients,
    heads,
    idleness,
    masks,
    single_sizes,
    texts,
)

SECTIONS = (agreement, heads, biases, gradients, masks, added, idleness, texts, calls, single_sizes)
