"""The same for torch: a gradient that depends on who asks for it, an input that is changed.

And gradients that nobody cleared, and a layer whose output, gradients of inputs and gradients of
parameters are all wrong.
"""

from torch.autograd import Function
from torch.nn import MultiheadAttention
from torch.nn.functional import scaled_dot_product_attention as right

from implementations import packed_torch
from tests.targets import torch_mistakes

forgets_keys_asked_for_alone = torch_mistakes.forgets_keys_asked_for_alone()
detaches_the_sinks = torch_mistakes.detaches_the_sinks()


def writes_into_its_values(query, key, value):
    out = right(query, key, value)
    if not value.requires_grad:
        value.mul_(2)
    return out


class Uncleared(Function):
    """The same numbers, whose gradients are sevens behind the first rows."""

    @staticmethod
    def forward(ctx, x, rows):
        ctx.rows = int(rows)
        return x.clone()

    @staticmethod
    def backward(ctx, dx):
        dx = dx.clone()
        dx[ctx.rows :] = 7
        return dx, None


def leaves_gradients_where_no_text_is(
    q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k
):
    starts = cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k
    return packed_torch.attend(Uncleared.apply(q, cu_seqlens_q[-1]), k, v, *starts)


class Wrong(MultiheadAttention):
    """Says all it has to say twice."""

    def forward(self, *inputs, **options):
        y, a = super().forward(*inputs, **options)
        return 2 * y, a


class DoubledWhereAsked(MultiheadAttention):
    """Right, but for the gradients of the path that shows its weights."""

    def forward(self, *inputs, need_weights=True, **options):
        out, weights = super().forward(*inputs, need_weights=need_weights, **options)
        return (2 * out - out.detach() if need_weights else out), weights
