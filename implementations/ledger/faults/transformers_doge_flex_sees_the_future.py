"""transformers 5.24.0: Doge with `attn_implementation="flex_attention"` attends to future keys.

`DogeAttention.prepare_dynamic_mask` ignores a BlockMask ("not isinstance(attention_mask,
BlockMask)"), and its dynamic mask then replaces the BlockMask in the call of the attention
function. No causal mask is left. With "eager" and "sdpa", the states of the first positions do not
change with the last token.
"""

import torch
from transformers import DogeConfig, DogeModel

torch.manual_seed(0)
sizes = {"vocab_size": 8, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
heads = {"num_attention_heads": 1, "num_key_value_heads": 1, "pad_token_id": None}
model = DogeModel(DogeConfig(**sizes, **heads, attn_implementation="flex_attention")).eval()
with torch.no_grad(), torch.compiler.set_stance("force_eager"):  # the same result when compiled
    one, other = (model(torch.tensor([[1, last]])).last_hidden_state[0, 0] for last in (2, 3))

change = (one - other).abs().max().item()
print(f"the first position changes with the second token by: got {change:.4g}, want 0.0")
assert change == 0.0
