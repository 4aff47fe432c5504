"""The specification of the layer: attention between four projections.

To read in this order:

    notation     parameters, problems, gradients
    definition   what a layer is
    record       what is judged, and what it may leave out
    domain       where the clauses quantify
    rounding     how far a correct layer may stray
    state        torch's names for the parameters
    moves        ways from one problem to another
    mistakes     plausible wrong layers
    proofs       what is proved of the clauses, and at which sizes

and the clauses, section L:

    agreement    a layer is attention between projections
    heads        each head has a part of every projection
    biases       what the biases do
    gradients    what the freedom of the heads says of the gradients
    masks        what a layer hides
    added        what is added to its scores
    idleness     and who may see nothing returns a bias
    texts        texts do not meet, and tokens have no order
    calls        its calls are a function
    single_sizes at every size

A layer is plugged in as a class that is built and called like `torch.nn.MultiheadAttention`.
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
