"""transformers 5.24.0: Moshi has its sliding window only with a cache, and none without.

`MoshiModel` makes its mask with `create_causal_mask`, which has no window, while its cache keeps
only the last `sliding_window` keys (3000 by default). For longer sequences, the states differ
between reading all tokens at once and reading them one by one. Expected: the same states; Mistral
uses `create_sliding_window_causal_mask`. The same happens in kyutai_speech_to_text, whose window is
375.
"""

import torch
from transformers import MoshiConfig, MoshiForCausalLM

torch.manual_seed(0)
sizes = {"vocab_size": 8, "hidden_size": 8, "ffn_dim": 8, "num_hidden_layers": 1}
config = MoshiConfig(**sizes, num_attention_heads=1, sliding_window=2, attn_implementation="eager")
model, tokens, cache = MoshiForCausalLM(config).eval(), torch.tensor([[1, 2, 3]]), None
with torch.no_grad():
    whole = model(input_ids=tokens, use_cache=False).last_hidden_state[0, -1]
    for token in tokens.T:
        step = model(input_ids=token[None], past_key_values=cache, use_cache=True)
        cache = step.past_key_values

error = (step.last_hidden_state[0, -1] - whole).abs().max().item()
print(f"with and without a cache differ by: got {error:.3g}, want 0 but for rounding")
assert error < 1e-5
