"""jax 0.10.2, Pallas's splash attention: gradients of rows that see nothing are M times too large.

Hidden scores are filled with -0.7 times the largest float32. A row from which all M keys are hidden
(of a segment that has no keys, or outside every window) returns their mean; the backward pass makes
its weights anew as exp(score - logsumexp), where log(M) is lost, and takes 1 for each of 1 / M.
Expected, of 128 such queries and 128 keys: each value has the gradient 128 / 128 = 1, or 0.
"""

import jax
import jax.numpy as jnp
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as kernel
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks

mask = masks.MultiHeadMask([masks.FullMask((128, 128))])
attend = kernel.make_splash_mha(mask, head_shards=1, q_seq_shards=1, interpret=True)
x, one = jnp.zeros((1, 128, 128)), jnp.ones(128, jnp.int32)
ids = kernel.SegmentIds(q=one, kv=0 * one)
got = jax.grad(lambda v: attend(x, x, v, segment_ids=ids)[..., 0].sum())(x)[0, 0, 0].item()
print(f"got {got}, want 1.0 (of a mean of 128 values) or 0.0")
assert got in (0.0, 1.0)
