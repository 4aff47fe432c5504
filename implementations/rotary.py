"""Rotary positional embedding (RoPE) in NumPy, with both pairings of columns.

`rotate` reads neighbouring columns as a complex number and multiplies it by exp(i p theta) (Su et
al. 2021, section 3). `rotate_halves` pairs column i with column i + r/2 and uses real products. It
fits models whose weights were permuted accordingly.
"""

from typing import Any

import numpy as np

from spec.notation import Array


def rotate(x: Array, positions: Array, base: float = 10000.0, width: int | None = None) -> Array:
    """Return R(p) x for x (B, H, N, D), positions (N) or (B, N), on the first `width` columns.

    Raises ValueError for an odd width, which leaves a column without a partner.
    """
    return turned(x, angles(x, positions, base, width))


def backward(
    dout: Array, positions: Array, base: float = 10000.0, width: int | None = None
) -> Array:
    """Return the gradient of <dout, R(p) x> with respect to x, which is R(-p) dout."""
    return turned(dout, -angles(dout, positions, base, width))


def place(
    q: Array, k: Array, v: Array, positions: Array, base: float = 10000.0, width: int | None = None
) -> tuple[Array, Array, Array]:
    """Return q and k rotated, and v unchanged, as attention receives them."""
    angle = angles(q, positions, base, width)
    return turned(q, angle), turned(k, angle), v


def angles(x: Array, positions: Array, base: float, width: int | None) -> Array:
    """Return p theta_i, in float32 or more precise.   (1 or B, 1, N, pairs)"""
    width = x.shape[-1] if width is None else width
    if width % 2:
        raise ValueError(f"cannot pair the columns of an odd width, {width}")
    number = np.result_type(x.dtype, np.float32).type
    theta = number(base) ** (-np.arange(0, width, 2, dtype=number) / number(width))
    rows = positions[None] if positions.ndim == 1 else positions
    return rows[:, None, :, None].astype(number) * theta


def turned(x: Array, angle: Array) -> Array:
    """Return neighbouring columns as complex numbers, multiplied by exp(i angle)."""
    r = 2 * angle.shape[-1]
    wide = x.astype(angle.dtype)
    z = (wide[..., 0:r:2] + 1j * wide[..., 1:r:2]) * np.exp(1j * angle)
    y = np.stack([z.real, z.imag], axis=-1).reshape(*z.shape[:-1], r)
    return np.concatenate([y, wide[..., r:]], axis=-1).astype(x.dtype)


def rotate_halves(
    x: Array, positions: Array, base: float = 10000.0, width: int | None = None
) -> Array:
    """Return R(p) x with columns paired by halves: i with i + width / 2."""
    return halves_turned(x, angles(x, positions, base, width))


def backward_halves(
    dout: Array, positions: Array, base: float = 10000.0, width: int | None = None
) -> Array:
    """Return the gradient of <dout, R(p) x> for columns paired by halves."""
    return halves_turned(dout, -angles(dout, positions, base, width))


def halves_turned(x: Array, angle: Array) -> Array:
    """Return the columns of both halves, rotated pair by pair."""
    half = angle.shape[-1]
    wide = x.astype(angle.dtype)
    one, two = wide[..., :half], wide[..., half : 2 * half]
    c, s = np.cos(angle), np.sin(angle)
    parts: list[Any] = [one * c - two * s, two * c + one * s, wide[..., 2 * half :]]
    return np.concatenate(parts, axis=-1).astype(x.dtype)


vars(rotate).update(backward=backward, place=place)
vars(rotate_halves).update(backward=backward_halves, conventions={"pairing": "halves"})
