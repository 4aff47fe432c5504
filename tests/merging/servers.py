"""Merges as servers have them, in torch: their parameters, their axes, their logarithms.

merge_state           flashinfer's: base two, (length, heads)
merge_attn_states     vLLM's: writes where it is told, (heads, length), +inf for no keys or -inf
update                ring attention's: a step from one output to the other
"""

import torch
from torch import Tensor

LOWEST = -torch.inf


def merge_state(v_a: Tensor, s_a: Tensor, v_b: Tensor, s_b: Tensor) -> tuple[Tensor, Tensor]:
    """(length, heads, width) and (length, heads), in base two; nothing is merged of nothing."""
    top = torch.maximum(s_a, s_b)
    shift = top.masked_fill(top == LOWEST, 0)
    a, b = torch.exp2(s_a - shift), torch.exp2(s_b - shift)
    total = a + b
    some = total.masked_fill(total == 0, 1)
    v = (v_a * (a / some)[..., None] + v_b * (b / some)[..., None]).to(v_a.dtype)
    return v, shift + torch.log2(total)


def merge_attn_states(
    output: Tensor,
    prefix_output: Tensor,
    prefix_lse: Tensor,
    suffix_output: Tensor,
    suffix_lse: Tensor,
    output_lse: Tensor | None = None,
) -> None:
    """(length, heads, width) and (heads, length); two parts without keys are NaN."""
    p, s = (x.masked_fill(x == torch.inf, LOWEST) for x in (prefix_lse, suffix_lse))
    top = torch.maximum(p, s)
    p, s = torch.exp(p - top), torch.exp(s - top)
    total = p + s
    if output_lse is not None:
        output_lse.copy_(top + torch.log(total))
    w_p, w_s = ((x / total).mT[..., None] for x in (p, s))
    output.copy_(prefix_output * w_p + suffix_output * w_s)


def update(out_1: Tensor, lse_1: Tensor, out_2: Tensor, lse_2: Tensor) -> tuple[Tensor, Tensor]:
    """A sigmoid of the difference, and no maximum; of two parts without keys, NaN."""
    log_sigmoid, work = torch.nn.functional.logsigmoid, lse_1.dtype
    step = torch.sigmoid(lse_2 - lse_1)[..., None]
    out = out_1.to(work) - step * (out_1.to(work) - out_2.to(work))
    return out.to(out_1.dtype), lse_1 - log_sigmoid(lse_1 - lse_2)
