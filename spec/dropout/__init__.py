"""Dropout on the weights of attention: section D.

    w_ij = m_ij a_ij / (1 - p) in training, and a_ij in evaluation; o = w v

with m_ij = 1 with probability 1 - p, else 0, all independent (dropout: Srivastava et al.
2014). To read in this order:

    notation     a problem of attention, and a rate, a mode and a seed
    definition   output and gradients, given which weights were kept
    chance       what chance may do, and how often a test of it may be wrong
    reading      the mask, read off anybody's output
    rounding     what may be rounded
    agreement    D1 to D6     weights, output and gradients, given the mask
    modes        D7 to D13    evaluation is off, off is off, and all is nothing
    draws        D14 to D22   one seed is one mask, and no two places share
    moments      D23 and D24  the mean is attention, and the variance is known
    calls        D25          inputs are left alone
    proofs       gradients for a mask; mean and variance over all masks

A right implementation is accused by chance at most once in 10^9 certificates (`chance`).
"""

from spec.dropout.clauses import agreement, calls, draws, modes, moments

SECTIONS = (agreement, modes, draws, moments, calls)
