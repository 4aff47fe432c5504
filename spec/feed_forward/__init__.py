"""The position-wise feed-forward network: section F.

    y = max(0, x W1 + b1) W2 + b2

at every position with the same weights (Vaswani et al. 2017, section 3.3). It is the half of a
transformer block that is not attention. Attention combines positions, and this network computes
each of them independently. Read in this order:

    notation     x (B, N, E), W1 (E, F), b1, W2 (F, E), b2; hidden units and ReLU gates
    definition   the network, and its gradients in closed form
    rounding     the error bounds; where rounding cannot change a gate, and where it can
    agreement    F1 to F6    two linear maps with a ReLU between them
    positions    F7 to F12   every position is computed independently
    scaling      F13 to F17  without biases the network is homogeneous
    units        F18 to F22  hidden units have no order, and each can be rescaled
    calls        F23 to F25  calls have no side effects
    proofs       the gradients, and what follows from them, on symbols

The ReLU has no derivative at 0. Only F19 tests that 0 is used there, and it is a `should` clause:
any number between 0 and 1 is a subgradient.
"""

from spec.feed_forward.clauses import agreement, calls, positions, scaling, units

SECTIONS = (agreement, positions, scaling, units, calls)
