"""Mistakes that need automatic differentiation to be made: a gradient that depends on who asks."""

from typing import Any

NAMES = ("forgets_keys_asked_for_alone", "detaches_the_sinks")


def forgets_keys_asked_for_alone() -> Any:
    """Attention that computes dk on the way to dq, and not if nobody asks for dq.

    Returns a native torch function in the spelling of `scaled_dot_product_attention`.
    """
    import torch

    right = torch.nn.functional.scaled_dot_product_attention

    class Attend(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, query: Any, key: Any, value: Any, options: Any) -> Any:
            ctx.save_for_backward(query, key, value)
            ctx.options = options
            return right(query, key, value, **options)

        @staticmethod
        def backward(ctx: Any, *douts: Any) -> Any:
            inputs = [x.detach().requires_grad_() for x in ctx.saved_tensors]
            with torch.enable_grad():
                out = right(*inputs, **ctx.options)
            dq, dk, dv = torch.autograd.grad(out, inputs, douts[0])
            return dq, dk if ctx.needs_input_grad[0] else torch.zeros_like(dk), dv, None

    def attend(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Any:
        options = {
            "attn_mask": attn_mask,
            "is_causal": is_causal,
            "scale": scale,
            "enable_gqa": enable_gqa,
        }
        return Attend.apply(query, key, value, options)  # type: ignore[no-untyped-call]

    return attend


def detaches_the_sinks() -> Any:
    """Attention that takes its sinks for constants, so that training never changes them."""
    import torch

    def attend(query: Any, key: Any, value: Any, sinks: Any = None) -> Any:
        s = query @ key.transpose(-1, -2) / max(query.shape[-1], 1) ** 0.5
        if sinks is None:
            return s.softmax(-1) @ value
        t = sinks.detach().to(s.dtype)[:, None, None].expand(*s.shape[:-1], 1)
        return torch.cat([s, t], dim=-1).softmax(-1)[..., :-1] @ value

    return attend
