"""Hugging Face transformers' `eager_attention_forward`, for each family that has its own version.

The modules of models are generated from one another. 360 functions have this name (transformers
5.24), with 25 different sources apart from variable names. Each source is here, under the name of a
family that has it, except that of ModernBERT's decoder, which always adds a mask. All accept
(batch, heads, length, width) and return (batch, length, heads, width) with their weights. Masks are
added, so the parameter is `attn_bias` here. The functions read heads, widths and sinks from the
layer that calls them; `Caller` provides these attributes.
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

from torch import Tensor

Result = tuple[Tensor, Tensor]


class Caller(SimpleNamespace):
    """The attributes that these functions read from the calling layer, which has no dropout."""

    training = False


def plain(family: str, mask: str = "attention_mask", name: str = "") -> Any:
    """The function of a family in which every query head has its own key head.

    mask: the parameter that is added to the scores. name: the prefix before the usual name.
    """
    forward = _found(family, name)

    def call(query: Tensor, key: Tensor, value: Tensor, bias: Any, scale: float | None) -> Result:
        added = {"attention_mask": None} | {mask: bias}
        caller = Caller(head_dim=query.shape[-1])
        scaling = query.shape[-1] ** -0.5 if scale is None else scale
        found: Result = forward(caller, query, key, value, scaling=scaling, **added)
        return found

    def attend(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_bias: Tensor | None = None,
        scale: float | None = None,
    ) -> Tensor:
        """query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E)."""
        return call(query, key, value, attn_bias, scale)[0].transpose(1, 2)

    def weights(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_bias: Tensor | None = None,
        scale: float | None = None,
    ) -> Tensor:
        """The second result, the weights.   (B, H, N, M)"""
        return call(query, key, value, attn_bias, scale)[1]

    return _named(attend, weights, family)


def shared(family: str, mask: str = "attention_mask", name: str = "") -> Any:
    """As `plain`, for a family whose heads may share keys."""
    forward = _found(family, name)

    def call(query: Tensor, key: Tensor, value: Tensor, bias: Any, scale: float | None) -> Result:
        added = {"attention_mask": None} | {mask: bias}
        scaling = query.shape[-1] ** -0.5 if scale is None else scale
        caller = _sharing(query, key)
        found: Result = forward(caller, query, key, value, scaling=scaling, **added)
        return found

    def attend(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_bias: Tensor | None = None,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG001 - key heads are always shared
    ) -> Tensor:
        """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E)."""
        return call(query, key, value, attn_bias, scale)[0].transpose(1, 2)

    def weights(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_bias: Tensor | None = None,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG001 - as above
    ) -> Tensor:
        """The second result, the weights.   (B, H, N, M)"""
        return call(query, key, value, attn_bias, scale)[1]

    return _named(attend, weights, family)


def sunk(family: str, name: str = "") -> Any:
    """As `shared`, for a family whose layers have an attention sink for each head."""
    forward = _found(family, name)

    def call(
        query: Tensor, key: Tensor, value: Tensor, bias: Any, scale: float | None, sinks: Any
    ) -> Result:
        caller = _sharing(query, key)
        caller.sinks = query.new_full((query.shape[1],), float("-inf")) if sinks is None else sinks
        scaling = query.shape[-1] ** -0.5 if scale is None else scale
        found: Result = forward(caller, query, key, value, bias, scaling=scaling)
        return found

    def attend(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_bias: Tensor | None = None,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG001 - as above
        sinks: Tensor | None = None,
    ) -> Tensor:
        """As in `shared`. sinks: (H,); all layers have them, so -inf stands for no sinks."""
        return call(query, key, value, attn_bias, scale, sinks)[0].transpose(1, 2)

    def weights(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_bias: Tensor | None = None,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG001 - as above
        sinks: Tensor | None = None,
    ) -> Tensor:
        """The second result, the weights.   (B, H, N, M)"""
        return call(query, key, value, attn_bias, scale, sinks)[1]

    return _named(attend, weights, family)


def capped(family: str, name: str = "") -> Any:
    """As `shared`, for a family that may soft-cap its scores."""
    forward = _found(family, name)

    def attend(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_bias: Tensor | None = None,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG001 - as above
        softcap: float | None = None,
    ) -> Tensor:
        """As in `shared`. softcap: None for no soft-cap."""
        caller = _sharing(query, key)
        told = {"scaling": scale, "softcap": softcap}
        found: Result = forward(caller, query, key, value, attn_bias, **told)
        return found[0].transpose(1, 2)

    def weights(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_bias: Tensor | None = None,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG001 - as above
        softcap: float | None = None,
    ) -> Tensor:
        """The second result, the weights.   (B, H, N, M)"""
        caller = _sharing(query, key)
        told = {"scaling": scale, "softcap": softcap}
        found: Result = forward(caller, query, key, value, attn_bias, **told)
        return found[1]

    return _named(attend, weights, family)


def _found(family: str, name: str) -> Any:
    """The function that a model calls if it uses no other attention function."""
    module = import_module(f"transformers.models.{family}.modeling_{family}")
    return getattr(module, f"{name or 'eager_'}attention_forward")


def _sharing(query: Tensor, key: Tensor) -> Caller:
    """A layer with as many heads as the arrays have."""
    H, G = query.shape[1], key.shape[1]
    return Caller(head_dim=query.shape[-1], num_key_value_groups=H // G)


def _named(attend: Any, weights: Any, family: str) -> Any:
    """The function under the name of its family, with the function for its weights."""
    attend.__name__ = attend.__qualname__ = family
    attend.weights = weights
    return attend


bert, layoutlm, clip, vit = (plain(x) for x in ("bert", "layoutlm", "clip", "vit"))
blip_2, internvl, gpt2, gptj = (plain(x) for x in ("blip_2", "internvl", "gpt2", "gptj"))
bigbird_pegasus, vjepa2 = (plain(x) for x in ("bigbird_pegasus", "vjepa2"))
t5 = plain("t5", mask="position_bias")
llama, llama4, evolla, idefics2 = (shared(x) for x in ("llama", "llama4", "evolla", "idefics2"))
llama4_vision = shared("llama4", name="vision_eager_")
inkling, inkling2 = (shared(x, mask="position_bias") for x in ("inkling", "inkling2"))
gemma2 = capped("gemma2")
gpt_oss, granite_swa, mimo_v2_flash, flint = (
    sunk(x) for x in ("gpt_oss", "granite_swa", "mimo_v2_flash", "flint")
)
openai_privacy_filter = sunk("openai_privacy_filter")
