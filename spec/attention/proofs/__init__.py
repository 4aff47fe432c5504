"""Proofs: why a clause is believed.

A clause writes `proof=any_number_of_keys.key_gradients_sum_to_zero`. The name is a theorem, an
`Evidence`: a function that returns what the theorem says is zero, the same with a fault planted
in it, which is not, its grade, and the sizes that it speaks of. The module tells its reach.

    any_number_of_keys  one query and a symbolic sum over the keys
    any_cap             a cap of any size, and any number of keys
    any_sink            a sink and any number of keys
    any_slope           a slope along any number of keys
    blocks              sets of keys cut up, put together, repeated; likewise any number
    at_sizes            the definition itself on symbols, differentiated; all numbers, fixed sizes
    exactly             laws of the definition, run on the fractions of `examples`; no tolerance
    in_places           those of positions
    in_sight            those of first keys
    of_latents          those of keys and values that are made of latents
    through_lse         what comes back through the log-sum-exp; of each of these kinds
    examples            problems in fractions

Importing these costs nothing: SymPy is imported by the theorem that is run.
"""
