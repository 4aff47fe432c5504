"""Rotary positional embedding (RoPE) in torch: a function with complex numbers, and a module.

`rotate` multiplies by exp(i p theta) and has gradients by autograd. `Rotary` is for one width,
pairs columns by halves, and grows a table of cosines and sines in the precision that its input
needs. For tokens after a cache, it reads the rows from `first` on.
"""

import torch
from torch import Tensor

STEP = 256  # a table grows by multiples of this


def rotate(x: Tensor, positions: Tensor, base: float = 10000.0, width: int | None = None) -> Tensor:
    """Return R(p) x for x (B, H, N, D), positions (N) or (B, N), on the first `width` columns.

    Raises ValueError for an odd width, which leaves a column without a partner.
    """
    r = even(x.shape[-1] if width is None else width)
    number = torch.promote_types(x.dtype, torch.float32)
    rows = positions[None] if positions.ndim == 1 else positions
    angle = rows[:, None, :, None].to(number) * frequencies(r, base, number, x.device)
    one, other = x[..., :r].to(number).reshape(*x.shape[:-1], r // 2, 2).unbind(-1)
    # Not a complex view: it needs even strides, and an odd column may be left over.
    turned = torch.complex(one, other) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([torch.view_as_real(turned).flatten(-2).to(x.dtype), x[..., r:]], dim=-1)


def even(width: int) -> int:
    """Return the width. Raises ValueError if it is odd."""
    if width % 2:
        raise ValueError(f"cannot pair the columns of an odd width, {width}")
    return width


def frequencies(width: int, base: float, number: torch.dtype, device: torch.device) -> Tensor:
    """Return theta_i = base^(-2i / width).   (width / 2)"""
    column = torch.arange(0, width, 2, dtype=number, device=device)
    return torch.pow(torch.tensor(base, dtype=number, device=device), -column / width)


class Rotary(torch.nn.Module):
    """Rotation of heads of one width, paired by halves, with a table that grows."""

    conventions = {"pairing": "halves"}  # noqa: RUF012 - read, never written

    def __init__(self, width: int, base: float = 10000.0) -> None:
        super().__init__()
        self.width, self.base = even(width), base
        self.kept: dict[tuple[torch.dtype, torch.device], tuple[Tensor, Tensor]] = {}

    def forward(self, x: Tensor, first: int = 0) -> Tensor:
        """Return R(first + n) x_n for x (B, H, N, D)."""
        last = first + x.shape[-2]
        c, s = (part[first:last] for part in self.hands(last, x))
        one, two = x.to(c.dtype).chunk(2, dim=-1)
        return torch.cat([one * c - two * s, two * c + one * s], dim=-1).to(x.dtype)

    def hands(self, length: int, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return cosines and sines of `length` positions, or more.   (rows, width / 2)"""
        number = torch.promote_types(x.dtype, torch.float32)
        key = number, x.device
        if key not in self.kept or len(self.kept[key][0]) < length:
            theta = frequencies(self.width, self.base, number, x.device)
            rows = torch.arange(-(-length // STEP) * STEP, dtype=number, device=x.device)
            angle = torch.outer(rows, theta)
            self.kept[key] = angle.cos(), angle.sin()
        return self.kept[key]
