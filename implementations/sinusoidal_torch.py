"""Sinusoidal positional encoding as a torch module, with a table that grows.

The usual module has a float32 table of a fixed length, whatever the dtype of the model is. This
table is as long as the largest position so far requires. Its angles have the precision of the
tokens that they are added to, and at least float32.
"""

import torch
from torch import Tensor

BASE = 10000.0
STEP = 256  # a table grows by multiples of this


class PositionalEncoding(torch.nn.Module):
    """Adds sines and cosines of the position to every token, for tokens of one width."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.kept: dict[tuple[torch.dtype, torch.device], Tensor] = {}

    def forward(self, x: Tensor, first: int = 0) -> Tensor:
        """Return x_n + PE[first + n], for x (B, N, E)."""
        last = first + x.shape[1]
        return (x + self.table(last, x)[first:last]).to(x.dtype)

    def table(self, length: int, x: Tensor) -> Tensor:
        """Return at least PE[0], ..., PE[length - 1], for the dtype and the device of x."""
        number = torch.promote_types(x.dtype, torch.float32)
        key = number, x.device
        if key not in self.kept or len(self.kept[key]) < length:
            self.kept[key] = self.rows(-(-length // STEP) * STEP, number, x.device)
        return self.kept[key]

    def rows(self, length: int, number: torch.dtype, device: torch.device) -> Tensor:
        """Return sines in even columns, cosines in odd ones.   (length, width)"""
        column = torch.arange(0, self.width, 2, dtype=number, device=device)
        theta = torch.pow(torch.tensor(BASE, dtype=number, device=device), -column / self.width)
        angle = torch.outer(torch.arange(length, dtype=number, device=device), theta)
        rows = torch.empty(length, self.width, dtype=number, device=device)
        rows[:, 0::2] = angle.sin()
        rows[:, 1::2] = angle.cos()[:, : self.width // 2]
        return rows
