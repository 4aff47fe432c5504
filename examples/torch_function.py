"""A torch.autograd.Function with a hand-written backward pass.

    attention-spec certify examples/torch_function.py:attend --profile quick --dtype float32

Expect "attend: certified (quick)" and exit code 0 after about 10 seconds. The target is an ordinary
function around `Attention.apply`; the tool calls torch.autograd, and so your backward pass. Leave
`--dtype` out to test float64, float16 and bfloat16 as well.

The function has no mask, so masks are not tested. To see a failure, leave `- row` out of the
backward pass and run the command again. `test_torch_function.py` has the same check under pytest.
"""

import torch


class Attention(torch.autograd.Function):
    """softmax(scale q k^T) v, which keeps the weights for its backward pass."""

    @staticmethod
    def forward(ctx, query, key, value, is_causal, scale):
        scores = query @ key.mT * scale
        if is_causal:
            future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).triu(1)
            scores = scores.masked_fill(future, -torch.inf)
        weights = scores.softmax(-1)
        ctx.save_for_backward(query, key, value, weights)
        ctx.scale = scale
        return weights @ value

    @staticmethod
    def backward(ctx, dout):
        query, key, value, weights = ctx.saved_tensors
        dweights = dout @ value.mT
        row = (dweights * weights).sum(-1, keepdim=True)
        dscores = weights * (dweights - row) * ctx.scale
        return dscores @ key, dscores.mT @ query, weights.mT @ dout, None, None


def attend(query, key, value, is_causal=False, scale=None):
    """Return (B, H, N, E) for query (B, H, N, D), key (B, H, M, D) and value (B, H, M, E)."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return Attention.apply(query, key, value, is_causal, scale)
