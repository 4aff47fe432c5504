"""transformers 5.24.0: packed sequences attend to each other in GPT-OSS.

`create_causal_mask` separates the sequences of one row by their position ids. Llama and most
decoders pass the position ids, but GptOssModel does not. Packed sequences are therefore trained on
each other, without a warning. Expected: the state of the first token of the second sequence does
not depend on the first sequence. The same happens in afmoe.
"""

import torch
from transformers import GptOssConfig, GptOssModel

torch.manual_seed(0)
sizes = {"vocab_size": 8, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
heads = {"num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 8, "pad_token_id": None}
experts = {"num_local_experts": 1, "num_experts_per_tok": 1}
config = GptOssConfig(**sizes, **heads, **experts, attn_implementation="eager")
model, places = GptOssModel(config).eval(), torch.tensor([[0, 1, 0]])
torch.nn.init.zeros_(model.layers[0].self_attn.sinks)
with torch.no_grad():
    one, other = (
        model(torch.tensor([[*text, 3]]), position_ids=places, use_cache=False).last_hidden_state[
            0, -1
        ]
        for text in ((1, 2), (4, 5))
    )

change = (one - other).abs().max().item()
print(f"the second sequence changes with the first by: got {change:.3g}, want 0")
assert change == 0.0
