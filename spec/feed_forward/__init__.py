"""The position-wise feed-forward network: section F.

    y = max(0, x W1 + b1) W2 + b2

at every position with the same weights (Vaswani et al. 2017, section 3.3). It is the half
of a transformer block that is not attention, and where attention lets positions meet,
it keeps them apart. To read in this order:

    notation     x (B, N, E), W1 (E, F), b1, W2 (F, E), b2; units and gates
    definition   the network, and its gradients in closed form
    rounding     what may be rounded; where a gate is settled, and where nobody can know
    agreement    F1 to F6    the output and the gradients are those of the definition
    positions    F7 to F12   each position is alone
    scaling      F13 to F17  homogeneous without biases, linear after the gate
    units        F18 to F22  a set of units, each with a scale that nobody sees
    calls        F23 to F25  the call is a function
    proofs       the gradients, and what follows from them, on symbols

The gate has no derivative at 0. That it is taken to be 0 there is asked by F19 alone, and
only as a `should`: any number between 0 and 1 is a subgradient.
"""

from spec.feed_forward.clauses import agreement, calls, positions, scaling, units

SECTIONS = (agreement, positions, scaling, units, calls)
