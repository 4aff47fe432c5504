"""Sinusoidal positions: sines and cosines of the position, added to a token.

To read in this order:

    notation     problems, and the record of what is judged
    definition   the table, the sum
    rounding     how far a right one may stray
    table        R1 to R7: clocks, and what follows from turning
    addition     R8 to R13: added, to every token alike
    mistakes     plausible wrong ones; steps: the right program that they are made from
    loading      the record of an ordinary function or class
    domain       where the clauses quantify
"""
