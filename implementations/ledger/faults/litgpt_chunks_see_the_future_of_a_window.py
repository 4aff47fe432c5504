"""LitGPT 0.5.13: a prompt in chunks no longer than the window attends to its own future keys.

The cache of a window is a ring. A chunk that wraps around it overwrites keys that its first tokens
still need, while the mask is that of a cache that does not wrap. If a chunk is longer, `KVCache`
advises "chunked prefill with chunk size <= window". Expected: the logits of one pass, which reading
token by token gives. Here the last token of a chunk changes the logits of the token before it.
"""

import torch
from litgpt import GPT, Config

torch.manual_seed(0)
sizes = {"n_layer": 1, "n_head": 1, "n_embd": 4, "head_size": 4, "intermediate_size": 4}
sizes |= {"padded_vocab_size": 4, "block_size": 4}
model = GPT(Config(sliding_window_size=2, sliding_window_indices=[1], **sizes)).eval()
text = torch.tensor([[0, 1, 2, 3]])
with torch.no_grad():
    want = model(text)
    model.set_kv_cache(batch_size=1)
    got = torch.cat([model(text[:, p : p + 2], torch.arange(p, p + 2)) for p in (0, 2)], dim=1)
print("got ", got[0, 2].tolist())
print("want", want[0, 2].tolist())
assert torch.allclose(got, want, atol=1e-5)
