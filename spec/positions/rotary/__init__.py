"""Rotary positions: queries and keys turned by their positions, pair by pair.

To read in this order:

    notation     problems, and the record of what is judged
    definition   the rotation, the one back, scores by differences
    rounding     how far a right one may stray; lengths, which hardly stray at all
    turning      R14 to R22: a position turns, and only turns
    relative     R23 to R30: attention sees differences
    mistakes     plausible wrong ones; steps: the right program that they are made from
    loading      the record of an ordinary function or class
    domain       where the clauses quantify
"""
