"""Returns a tensor whose numbers, gradient and flags change when torch's functions are called."""

import torch


class Two(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.requires_grad.__get__:
            return True
        return super().__torch_function__(function, types, args, kwargs or {})


detach = torch.Tensor.detach
torch.Tensor.detach = lambda self: detach(self) * 1


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, value):
        ctx.save_for_backward(query, value)
        mean = value.mean(-2, keepdim=True).repeat_interleave(query.shape[1] // value.shape[1], 1)
        return mean.expand(*query.shape[:-1], -1).clone().as_subclass(Two)

    @staticmethod
    def backward(ctx, dout):
        query, value = ctx.saved_tensors
        return query * 0, value * torch.nan


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return Wrong.apply(query, value)
