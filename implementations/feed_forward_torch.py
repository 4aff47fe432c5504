"""The position-wise feed-forward network in torch: a function, and a module.

    y = max(0, x W1 + b1) W2 + b2

(Vaswani et al. 2017, section 3.3). The function multiplies by W1 and W2 from the right, as the
formula does, and accumulates in float32 or more precise; gradients are by autograd. The module uses
the linear layers of torch, as usual, whose weights have the output axis first.
"""

import torch
from torch import Tensor, nn

from implementations.arguments_torch import accumulator


def feed_forward(x: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Tensor:
    """Return max(0, x W1 + b1) W2 + b2.   x (B, N, E), W1 (E, F), W2 (F, E) give (B, N, E)"""
    work = accumulator(x.dtype)
    rows, W1, b1, W2, b2 = (a.to(work) for a in (x.flatten(0, 1), W1, b1, W2, b2))
    h = torch.relu(torch.addmm(b1, rows, W1))
    return torch.addmm(b2, h, W2).view(x.shape).to(x.dtype)


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them."""

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, units)
        self.outer = nn.Linear(units, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return y (B, N, width) for x (B, N, width)."""
        h: Tensor = torch.relu(self.inner(x))
        return self.outer(h)
