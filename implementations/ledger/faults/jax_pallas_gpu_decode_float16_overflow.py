"""jax 0.10.2, Pallas's decode_attention and paged_attention (GPU): float16 means are infinite.

Both kernels store the sum of exp(s - max) v of each split in the dtype of the queries, before they
divide it by the sum of the weights. In float16 sixteen values of 5000 add up to 80000, beyond
65504. Expected: 5000, the value of every key.
"""

import jax.numpy as jnp
from jax.experimental.pallas.ops.gpu import decode_attention, paged_attention

query, five = jnp.zeros((1, 1, 16), jnp.float16), jnp.full((1, 16, 1, 16), 5000, jnp.float16)
got = decode_attention.gqa(query, 0 * five, five, k_splits=1, interpret=True).max().item()
pages, table = five.reshape(1, 1, 16, 16), jnp.zeros((1, 1), jnp.int32)
paged = (
    paged_attention.paged_attention(
        query, 0 * pages, pages, table, jnp.array([16], jnp.int32), k_splits=1, interpret=True
    )
    .max()
    .item()
)
print(f"got {got}, and {paged} from pages, want 5000.0")
assert got == paged == 5000.0
