"""Hugging Face transformers' layers for which a description alone is not enough.

GPT-2 has weights (in, out), while torch's layers have (out, in); `Turned` transposes them. Layers
with windows, soft-caps, attention sinks or position biases are tested as functions: their weights
are ones and zeros that extract queries, keys and values from one input, and their rotations have
the angle zero. Masks are made as the models make them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from transformers import GPT2Config, PreTrainedConfig
from transformers.masking_utils import create_causal_mask, create_sliding_window_causal_mask
from transformers.models.gemma2.modeling_gemma2 import Gemma2Attention, Gemma2Config
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention
from transformers.models.gpt_oss.modeling_gpt_oss import GptOssAttention, GptOssConfig
from transformers.models.mistral.modeling_mistral import MistralAttention, MistralConfig
from transformers.models.t5.modeling_t5 import T5Attention, T5Config

__all__ = ["GPT2Attention", "GPT2Config", "Turned", "gemma2", "gpt_oss", "mistral", "t5"]


class Turned(nn.Module):
    """A layer of GPT-2 whose matrices are (out, in)."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = [layer]  # in a list, torch does not register it
        for name in ("c_attn", "c_proj"):
            there: Any = layer.get_submodule(name)
            here = nn.Module()
            turned = there.weight.detach().T.clone(memory_format=torch.contiguous_format)
            here.weight = nn.Parameter(turned)
            here.bias = nn.Parameter(there.bias.detach().clone())
            self.add_module(name, here)

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None) -> Any:
        """hidden_states (B, N, A); attention_mask broadcasts to (B, H, N, M) and is added."""
        given = {name: x.T if x.ndim == 2 else x for name, x in self.named_parameters()}
        (layer,) = self.layer
        layer.train(self.training)
        told = {"attention_mask": attention_mask}
        return torch.func.functional_call(layer, given, (hidden_states,), told)


def mistral(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    enable_gqa: bool = False,  # noqa: ARG001 - key heads are always shared
    sliding_window: int | None = None,
) -> Tensor:
    """query (B, H, N, D), key, value (B, G, N, D) give (B, H, N, D).

    Raises ValueError for other shapes.
    """
    config = _config(MistralConfig, query, key, sliding_window=sliding_window)
    with torch.device("meta"):
        layer = MistralAttention(config, 0)
    return _asked(layer, query, key, value, is_causal)


def gemma2(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    sliding_window: int | None = None,
    softcap: float | None = None,
) -> Tensor:
    """As `mistral`."""
    D = query.shape[-1]
    told = {"query_pre_attn_scalar": D, "attn_logit_softcapping": softcap}
    config = _config(Gemma2Config, query, key, sliding_window=sliding_window, **told)
    with torch.device("meta"):
        layer = Gemma2Attention(config, 0)
    return _asked(layer, query, key, value, is_causal)


def gpt_oss(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    sliding_window: int | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """As `mistral`. sinks: (H,); all layers have them, so -inf stands for no sinks."""
    config = _config(GptOssConfig, query, key, sliding_window=sliding_window)
    with torch.device("meta"):
        layer = GptOssAttention(config, 0)
    told = query.new_full((query.shape[1],), float("-inf")) if sinks is None else sinks
    return _asked(layer, query, key, value, is_causal, sinks=told)


def _config(
    kind: Any, query: Tensor, key: Tensor, sliding_window: int | None, **told: Any
) -> PreTrainedConfig:
    """The configuration of a model of one layer. Raises ValueError if N != M."""
    (_, H, N, D), (_, G, M, _) = query.shape, key.shape
    if N != M:
        raise ValueError("a layer reads one text")
    config: PreTrainedConfig = kind(
        hidden_size=3 * H * D,
        num_attention_heads=H,
        num_key_value_heads=G,
        head_dim=D,
        attention_bias=False,
        attn_implementation="eager",
        **told,
    )
    config.sliding_window = sliding_window
    return config


def _asked(
    layer: Any, query: Tensor, key: Tensor, value: Tensor, is_causal: bool, **parameters: Tensor
) -> Tensor:
    """The output of a layer with rotations, for given queries, keys and values.

    Raises ValueError if the shapes of values and keys differ.
    """
    if value.shape != key.shape:
        raise ValueError("a layer has heads of one width")
    _, H, N, D = query.shape
    narrow = key.shape[1] * D
    x = torch.cat([y.transpose(1, 2).flatten(2) for y in (query, key, value)], dim=-1)
    x = nn.functional.pad(x, (0, 2 * (H * D - narrow)))  # the width without shared heads
    given = parameters | {f"{name}.weight": y for name, y in _taking(x, H * D, narrow).items()}
    angles = D // 2 if isinstance(layer, GptOssAttention) else D  # GPT-OSS has each angle once
    turn = x.new_ones(1, N, angles), x.new_zeros(1, N, angles)
    mask = _mask(layer.config, x, is_causal)
    out, _ = torch.func.functional_call(layer.eval(), given, (x, turn, mask))
    found: Tensor = out[..., : H * D].unflatten(-1, (H, D)).transpose(1, 2)
    return found


def _taking(x: Tensor, width: int, narrow: int) -> dict[str, Tensor]:
    """Matrices that extract queries, keys and values from an input, and put the output first."""
    one = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    q, k, v, _ = torch.split(one, [width, narrow, narrow, x.shape[-1] - width - 2 * narrow])
    return {"q_proj": q, "k_proj": k, "v_proj": v, "o_proj": q.T}


def _mask(config: PreTrainedConfig, x: Tensor, is_causal: bool) -> Tensor | None:
    """The mask that a model passes to the layer."""
    windowed = config.sliding_window is not None
    if not (is_causal or windowed):
        return None
    create: Callable[..., Tensor] = (
        create_sliding_window_causal_mask if windowed else create_causal_mask
    )
    return create(config, x, None, None)


def t5(query: Tensor, key: Tensor, value: Tensor, attn_bias: Tensor | None = None) -> Tensor:
    """query, key, value (B, H, N, D) give (B, H, N, D); attn_bias is a position bias.

    Raises ValueError if the shapes of the inputs differ, and if a bias fully masks a row: the
    output projection would spread its NaN to all heads.
    """
    B, H, N, D = query.shape
    if not query.shape == key.shape == value.shape:
        raise ValueError("a layer reads one text, with heads of one width")
    config = T5Config(d_model=3 * H * D, d_kv=D, num_heads=H, attn_implementation="eager")
    with torch.device("meta"):
        layer = T5Attention(config).eval()
    x = torch.cat([y.transpose(1, 2).flatten(2) for y in (query, key, value)], dim=-1)
    given = {f"{name[0]}.weight": y for name, y in _taking(x, H * D, H * D).items()}
    if attn_bias is not None and attn_bias.isneginf().all(dim=-1).any():
        raise ValueError("a layer has no row without a key")
    bias = None if attn_bias is None else attn_bias.expand(B, H, N, N)
    out = torch.func.functional_call(layer, given, (x,), {"position_bias": bias})[0]
    found: Tensor = out[..., : H * D].unflatten(-1, (H, D)).transpose(1, 2)
    return found
