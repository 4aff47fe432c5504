"""S3: sinusoidal positions, added to what a token means to say where it stands.

    PE[p, 2i]     = sin(p / 10000^(2i / E))
    PE[p, 2i + 1] = cos(p / 10000^(2i / E))

(Vaswani et al. 2017, section 3.5). Every pair of columns is a point that goes round a circle
at its own speed, so that a shift by k is the same rotation everywhere: PE[p + k] is a linear
function of PE[p].

Without them, self-attention does not know the order of its tokens. Source S3 publishes a
table of 256 positions, an accuracy of 0.81 with it and of 0.85 without it on short training,
and that "how are you" and "you how are" are told apart with it alone.
"""

from math import log

import torch
from torch import Tensor, nn

MAX_LENGTH, BASE = 256, 10000.0


def sinusoidal(length: int, width: int) -> Tensor:
    """PE, in float64.   (length, width)"""
    i = torch.arange((width + 1) // 2, dtype=torch.float64)
    speed = torch.exp(-log(BASE) * 2 * i / width)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * speed
    pairs = torch.stack((angle.sin(), angle.cos()), dim=-1)
    return pairs.flatten(start_dim=1)[:, :width]


class SinusoidalPositions(nn.Module):
    """x + PE for sequences of up to `max_length` tokens; nothing to learn.

    The table is no buffer, which would be rounded to the format of the model and stay so: it
    is rounded to that of the tokens whenever it is added.
    """

    def __init__(self, embed_dim: int, max_length: int = MAX_LENGTH) -> None:
        super().__init__()
        self.table = sinusoidal(max_length, embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        """x_p + PE[p].   (B, L, E); raises ValueError: L is larger than `max_length`."""
        L = x.shape[1]
        if len(self.table) < L:
            raise ValueError(f"{L} tokens, but a table of {len(self.table)} positions")
        return x + self.table[:L].to(x)
