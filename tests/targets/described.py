"""Layers of the world, written from memory as their authors name, build and call them."""

from types import SimpleNamespace

import torch
from torch import nn


class Config(SimpleNamespace):
    """What a layer is made with, beside its defaults."""

    dropout, block_size = 0.0, 64


class CausalSelfAttention(nn.Module):
    """nanoGPT's: one packed projection, causal in any case."""

    def __init__(self, config):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.attn_dropout = nn.Dropout(config.dropout)
        self.resid_dropout = nn.Dropout(config.dropout)
        self.n_head, self.n_embd = config.n_head, config.n_embd
        ones = torch.ones(config.block_size, config.block_size)
        self.register_buffer("bias", torch.tril(ones).view(1, 1, *ones.shape))

    def split(self, x):
        return self.c_attn(x).split(self.n_embd, dim=2)

    def scores(self, q, k):
        return q @ k.transpose(-2, -1) * (1.0 / k.size(-1) ** 0.5)

    def masked(self, att, T):
        return att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (y.view(B, T, self.n_head, C // self.n_head) for y in self.split(x))
        q, k, v = (y.transpose(1, 2) for y in (q, k, v))
        att = self.masked(self.scores(q, k), T).softmax(dim=-1)
        y = (self.attn_dropout(att) @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class Unscaled(CausalSelfAttention):
    """Forgets to divide its scores by the root of the width."""

    def scores(self, q, k):
        return q @ k.transpose(-2, -1)


class SeesAhead(CausalSelfAttention):
    """Forgets its triangle."""

    def masked(self, att, _):
        return att


class KeysFirst(CausalSelfAttention):
    """Takes keys where the packed projection has queries."""

    def split(self, x):
        k, q, v = super().split(x)
        return q, k, v


class BertSelfAttention(nn.Module):
    """BERT's, which ends before the output is projected."""

    def __init__(self, config):
        super().__init__()
        self.num_attention_heads = config.num_attention_heads
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def transpose_for_scores(self, x):
        return x.view(*x.shape[:2], self.num_attention_heads, -1).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None):
        layers = (self.query, self.key, self.value)
        q, k, v = (self.transpose_for_scores(layer(hidden_states)) for layer in layers)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if attention_mask is not None:
            scores = scores + attention_mask
        context = self.dropout(scores.softmax(dim=-1)) @ v
        return (context.permute(0, 2, 1, 3).flatten(2),)


class Attention(nn.Module):
    """A vision transformer's: no mask, and an output bias whatever it is told."""

    def __init__(self, dim, num_heads=8, qkv_bias=False):
        super().__init__()
        self.num_heads, self.scale = num_heads, (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        attn = (q * self.scale @ k.transpose(-2, -1)).softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def embeddings(x, width, base=10000.0):
    """Cosines and sines of all places, both halves alike, as a model hands them to its layers."""
    inv_freq = base ** (-torch.arange(0, width, 2, dtype=x.dtype) / width)
    angles = torch.arange(x.shape[1], dtype=x.dtype)[:, None] * inv_freq
    both = torch.cat((angles, angles), dim=-1)[None]
    return both.cos(), both.sin()


class LlamaAttention(nn.Module):
    """Llama's: no biases, fewer key heads, queries and keys turned by their places."""

    def __init__(self, config):
        super().__init__()
        self.head_dim = config.hidden_size // config.num_attention_heads
        self.groups = config.num_attention_heads // config.num_key_value_heads
        width = config.num_key_value_heads * self.head_dim
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def turned(self, x, cos, sin):
        return x * cos + rotate_half(x) * sin

    def repeated(self, x):
        return x.repeat_interleave(self.groups, dim=1)

    def forward(self, hidden_states, position_embeddings, attention_mask=None):
        layers = (self.q_proj, self.k_proj, self.v_proj)
        shape = (*hidden_states.shape[:2], -1, self.head_dim)
        q, k, v = (layer(hidden_states).view(shape).transpose(1, 2) for layer in layers)
        cos, sin = (x.unsqueeze(1) for x in position_embeddings)
        q, k = (self.turned(x, cos, sin) for x in (q, k))
        scores = q @ self.repeated(k).transpose(2, 3) / self.head_dim**0.5
        if attention_mask is not None:
            scores = scores + attention_mask
        weights = scores.softmax(dim=-1)
        return self.o_proj((weights @ self.repeated(v)).transpose(1, 2).flatten(2)), weights


class TilesKeyHeads(LlamaAttention):
    """Gives neighbouring heads different keys."""

    def repeated(self, x):
        return x.repeat(1, self.groups, 1, 1)


class TurnsBackwards(LlamaAttention):
    """Turns queries and keys against their places."""

    def turned(self, x, cos, sin):
        return super().turned(x, cos, -sin)


class WhisperAttention(nn.Module):
    """Whisper's: keys are projected without a bias, queries, values and outputs with one."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def forward(self, hidden_states, attention_mask=None):
        q = self.split(self.q_proj(hidden_states) * self.head_dim**-0.5)
        k, v = (self.split(proj(hidden_states)) for proj in (self.k_proj, self.v_proj))
        scores = q @ k.transpose(2, 3)
        if attention_mask is not None:
            scores = scores + attention_mask
        return self.out_proj((scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))


class PackedAttention(nn.Module):
    """A transformer's in few lines: one packed projection without a bias, an output with one."""

    def __init__(self, dim, heads=8):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(0.0))

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (self.heads, -1)) for y in self.to_qkv(x).chunk(3, dim=-1))
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * self.scale
        return self.to_out(torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v).flatten(2))


class ForgetsTheValueBias(WhisperAttention):
    """Projects values as it projects keys, without a bias."""

    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.v_proj.forward = lambda x: nn.functional.linear(x, self.v_proj.weight)
