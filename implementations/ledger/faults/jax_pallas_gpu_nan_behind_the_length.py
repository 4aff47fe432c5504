"""jax 0.10.2, Pallas's gpu decode_attention and paged_attention: NaN after the length is returned.

Keys after kv_seq_len (or after `lengths`) are masked in the softmax, but their values are still
multiplied by a weight of zero: 0 * NaN is NaN. The end of a page is not written yet, so it may
contain anything. Expected: 1, the value of all keys before the length.
"""

import jax.numpy as jnp
from jax.experimental.pallas.ops.gpu import decode_attention, paged_attention

query, eight = jnp.zeros((1, 1, 16)), jnp.array([8], jnp.int32)
value = jnp.ones((1, 16, 1, 16)).at[:, 8:].set(jnp.nan)
key = jnp.zeros_like(value)
got = decode_attention.gqa(query, key, value, kv_seq_len=eight, k_splits=1, interpret=True)
pages, table = (x.reshape(1, 1, 16, 16) for x in (key, value)), jnp.zeros((1, 1), jnp.int32)
paged = paged_attention.paged_attention(query, *pages, table, eight, k_splits=1, interpret=True)
print(f"got {got.max()}, and {paged.max()} from pages, want 1.0")
assert got.max() == paged.max() == 1.0
