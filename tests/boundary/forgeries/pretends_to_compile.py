"""Wrong wherever torch compiles it, and has the runner count programs that it never compiles."""

import torch

from wire import part

calls = []


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if not torch.compiler.is_compiling():
        calls.append(None)
        options = {"attn_mask": attn_mask, "is_causal": is_causal, "scale": scale}
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, **options)
    return value.mean(-2, keepdim=True).expand(*query.shape[:-1], -1)


def counts(self, told):
    return {"programs": len(calls), "of_jax": 0, "any": True, "not_compiled": []}


part("serve").DOES["counts"] = counts
part("serve").DOES["compile"] = lambda self, told: self.objects.written(attend)
