"""Merging partial results: section Q.

    lse = log(exp lse_1 + exp lse_2)    o = exp(lse_1 - lse) o_1 + exp(lse_2 - lse) o_2

What is known of some keys, their output and their log-sum-exp, and what is known of others make
what is known of all. Servers cut the keys of a query into parts, for many cores, for a prefix
that many requests share, for a ring of machines, and this is how they are put together. To read
in this order:

    notation     a state: o (B, H, N, E), lse (B, H, N); which are empty, and which live
    definition   the merge, and its gradients in closed form
    rounding     what may be rounded; what parts lose that were normalised before they met
    agreement    Q1 to Q4     results and gradients are those of the definition
    algebra      Q5 to Q13    any order, any tree, the empty state; and what a mean keeps
    wholes       Q14 to Q17   parts of attention make the whole
    emptiness    Q18 to Q21   a state of no keys
    calls        Q22 to Q28   each row is alone, and the call is a function
    proofs       the gradients and the algebra, on symbols

The output of an empty state is no matter. Zero is what it is by default, any finite number is to
be ignored, and NaN should be (Q20). Whether its log-sum-exp is -inf or +inf, and of what base a
log-sum-exp is, are conventions.
"""

from spec.merging.clauses import agreement, algebra, calls, emptiness, wholes

SECTIONS = (agreement, algebra, wholes, emptiness, calls)
