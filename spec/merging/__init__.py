"""Merging partial attention results: section Q.

    lse = log(exp lse_1 + exp lse_2)    o = exp(lse_1 - lse) o_1 + exp(lse_2 - lse) o_2

The outputs and log-sum-exps over two sets of keys give the output and the log-sum-exp over all of
these keys. Servers split the keys of a query between many cores, between a prefix that requests
share and the rest, or between the machines of a ring, and merge the parts in this way. Read in this
order:

    notation     a state: o (B, H, N, E), lse (B, H, N); which are empty, which are live
    definition   the merge, and its gradients in closed form
    rounding     the error bounds; what normalising the parts before they are merged costs
    agreement    Q1 to Q4     results and gradients match the definition
    algebra      Q5 to Q13    merging is commutative, associative and a weighted mean
    wholes       Q14 to Q17   merging the parts of an attention problem gives the whole
    emptiness    Q18 to Q21   a state of no keys contributes nothing
    calls        Q22 to Q28   rows are independent, and a call has no side effects
    proofs       the gradients and the algebra, on symbols

The output of an empty state has no influence. By default it is zero; any finite number must be
ignored, and NaN should be (Q20). Two conventions apply: the log-sum-exp of an empty state (-inf or
+inf), and the base of log-sum-exps.
"""

from spec.merging.clauses import agreement, algebra, calls, emptiness, wholes

SECTIONS = (agreement, algebra, wholes, emptiness, calls)
