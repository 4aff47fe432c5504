"""Dropout on attention weights: section D.

    w_ij = m_ij a_ij / (1 - p) in training, and a_ij in evaluation; o = w v

where m_ij is 1 with probability 1 - p and else 0, independently of all others (dropout: Srivastava
et al. 2014). Read in this order:

    notation     an attention problem with a rate, a mode and a seed
    definition   the output and the gradients, given which weights are kept
    chance       bounds on random results, and how often a test may be wrong
    reading      the dropout mask, inferred from the output of a target
    rounding     the error bounds
    agreement    D1 to D6     dropout zeroes weights at random and scales up the others
    modes        D7 to D13    evaluation mode, rate zero and rate one
    draws        D14 to D22   masks are random, independent and reproducible
    moments      D23 and D24  the mean is attention, and the variance is known
    calls        D25          a call does not modify its inputs
    proofs       the gradients for a mask; the mean and the variance over all masks

By chance, a correct implementation fails in at most one of 10^9 certificates (`chance`).
"""

from spec.dropout.clauses import agreement, calls, draws, modes, moments

SECTIONS = (agreement, modes, draws, moments, calls)
