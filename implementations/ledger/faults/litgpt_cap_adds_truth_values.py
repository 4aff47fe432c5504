"""LitGPT 0.5.13: with `attention_logit_softcapping` a boolean mask is added to the scores.

The mask of the KV cache (`build_mask_cache`) is True for visible keys. Adding it raises their
scores by one and masks no key, so that Gemma 2 reads its prompts without causality. Expected: a
prompt that is read with a cache has the same logits as without one, as in a model without a
soft-cap.
"""

import torch
from litgpt import GPT, Config

torch.manual_seed(0)
sizes = {"n_layer": 1, "n_head": 1, "n_embd": 4, "head_size": 4, "intermediate_size": 4}
sizes |= {"padded_vocab_size": 4, "block_size": 4}
model = GPT(Config(attention_logit_softcapping=50.0, **sizes)).eval()
text, places = torch.tensor([[0, 1, 2]]), torch.arange(3)
with torch.no_grad():
    want = model(text)
    model.set_kv_cache(batch_size=1)
    got = model(text, places, input_pos_maxp1=3)
print("got ", got[0, 0].tolist())
print("want", want[0, 0].tolist())
assert torch.allclose(got, want, atol=1e-5)
