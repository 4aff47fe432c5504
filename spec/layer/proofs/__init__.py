"""Proofs about the layer, in the manner of `spec.attention.proofs`.

    any_number_of_keys  what the biases do: one query, and a symbolic sum over the keys
    outputs             its output: what heads may do, for all numbers at small sizes
    gradients           its gradients: the closed form, and what heads say of it, likewise
    formulas            a layer in symbols, which those two are about
    exactly             laws of what is hidden, run on the integers of `examples`; no tolerance
    examples            a layer in integers, with masks of every kind

Clauses that say what a layer is (L1, L4, L6, L22), and clauses about its calls, its modes and
its memory, are no theorems: they hold by definition, or are broken by programs only.
"""
