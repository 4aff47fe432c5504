"""New implementations of the five published systems that this project had to cover.

    list-of-heads     list_of_heads        NumPy: heads in lists, gradients and a training step
                                           by hand
    einsum-layer      einsum_layer         torch: self-attention in Einstein's notation
    single-head       single_head          NumPy: one head, all gradients, the published
                                           training loop
    text-classifier   scaled_dot_product   torch: output and weights of one head
                      naive_layer          torch: a loop over heads, each with its projections
                      efficient_layer      torch: one projection, split by a view
                      positions            torch: the sinusoidal table
    valid-lengths     valid_lengths        NumPy: padded sequences, heads folded into the batch,
                                           feed-forward

`torch_names` wraps list-of-heads and valid-lengths as layers with torch's names, so that the
clauses for layers can test them.

Sources: list-of-heads is a blog post, "Multi-Head Attention from Scratch"; einsum-layer, a
notebook by Z. Ramzi and G. Peyré; single-head, a notebook; text-classifier, a blog post with
a text classifier, which is in `implementations.classifier`; valid-lengths, an article,
"Understanding the Mathematics of Multi-Head Attention in Transformers". The docstring of each
module lists what its source publishes.

Four bugs were published with the systems. `published_faults` and `published_faults_torch` keep
them, and the clauses named here reject them:

    list-of-heads     dWq and dWk use only the diagonal of the Jacobian, and dWk has the values
                      twice; dWv and dWo are right.
                      A2, A3, S12, K2 (gradients of a function);
                      L3, L14, L18, L22 (gradients and training step of a layer)
    einsum-layer      exp of the scores without subtracting the maximum, which overflows.
                      A1, S10 (output, large scores); L1, L4 (output and weights of a layer)
    text-classifier   the mean of the weights over the heads, even for a caller that requests
                      the weights of every head.
                      L4, L6, L7 (weights that a layer returns)
    valid-lengths     NaN where the valid length is 0.
                      A1, M9 (output, fully masked queries); L1, L31 (the same for a layer)

The implementations here are certified, and agree with the published numbers:

    python -m spec certify implementations.systems.list_of_heads:attend
"""

from implementations import Target

TARGETS: tuple[Target, ...] = (
    Target("implementations.systems.list_of_heads:attend", "numpy"),
    Target("implementations.systems.einsum_layer:attend", "torch"),
    Target("implementations.systems.single_head:attend", "numpy"),
    Target("implementations.systems.scaled_dot_product:attend", "torch"),
    Target("implementations.systems.valid_lengths:attend", "numpy"),
)
LAYERS: tuple[Target, ...] = (
    Target("implementations.systems.torch_names:ListOfHeadsLayer", "numpy"),
    Target("implementations.systems.einsum_layer:EinsumLayer", "torch"),
    Target("implementations.systems.naive_layer:NaiveLayer", "torch"),
    Target("implementations.systems.efficient_layer:EfficientLayer", "torch"),
    Target("implementations.systems.torch_names:PaddedLayer", "numpy"),
)
