"""tokamax 0.0.12, XlaChunkedDotProductAttention: paged attention ignores the lengths of the pages.

PagingInfo documents lengths: "Length of each page in the paged kv cache", "Each page is assumed to
be valid from the start of its sequence, up to its corresponding length". The chunked operator
attends to whole pages. Expected, for one page of two keys of which one is written: its value, 1.
"""

import jax.numpy as jnp
from tokamax._src.ops.attention.base import PagingInfo
from tokamax._src.ops.attention.xla_chunked import XlaChunkedDotProductAttention

query, pages = jnp.zeros((1, 1, 1, 1)), jnp.zeros((1, 2, 1, 1))
values = jnp.array([1.0, 5.0]).reshape(1, 2, 1, 1)
paging = PagingInfo(
    num_active_pages=jnp.array([1]), active_page_indices=jnp.array([[0]]), lengths=jnp.array([1])
)
got = XlaChunkedDotProductAttention(chunk_size=1)(query, pages, values, paging_info=paging).item()
print(f"got {got}, want 1.0")
assert got == 1.0
