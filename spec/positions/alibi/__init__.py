"""ALiBi: a bias on scores that grows with the distance, at a rate for each head.

To read in this order:

    notation     problems, and the record of what is judged
    definition   slopes for any number of heads, the bias, weights that fade by a ratio
    rounding     how far right ones may stray
    slopes       R31 to R33: powers of two, or those asked for
    biases       R34 to R40: distances, and what a softmax makes of them
    mistakes     plausible wrong ones; steps: the right program that they are made from
    loading      the record of an ordinary function
    domain       where the clauses quantify
"""
