"""The published systems that this project was asked to cover, each written anew.

    S0   list_of_heads        NumPy: heads in lists, gradients and a training step by hand
    S1   einsum_layer         torch: self-attention in Einstein's notation
    S2   single_head          NumPy: one head, all gradients, the published training loop
    S3   scaled_dot_product   torch: output and weights of one head
         naive_layer          torch: a loop over heads with projections of their own
         efficient_layer      torch: one projection, split by a view
         positions            torch: the sinusoidal table
    S4   valid_lengths        NumPy: padded sequences, heads folded into the batch, feed-forward

    torch_names               S0 and S4 as layers under torch's names, to be judged as such

Sources: S0, a blog post, "Multi-Head Attention from Scratch"; S1, a notebook by Z. Ramzi and
G. Peyré; S2, a notebook; S3, a blog post with a text classifier, which is in
`implementations.classifier`; S4, an article, "Understanding the Mathematics of Multi-Head
Attention in Transformers". Each module opens with what its source publishes.

Four faults were published with them. They stand in `published_faults` and
`published_faults_torch`, and these clauses refuse them:

    S0   dWq and dWk from the diagonal of the Jacobian, the values   A2 A3 S12 K2; L3 L14 L18 L22
         twice in dWk; dWv and dWo are right
    S1   exp of the scores as they are, which overflows              A1 S10; L1 L4
    S3   the mean of the weights, also for who asks for every head   L4 L6 L7
    S4   NaN where the valid length is 0                             A1 M9; L1 L31

What is here is certified, and held to what was published:

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
