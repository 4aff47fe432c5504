"""Latents that are absorbed give what the keys and values that they stand for give."""

import numpy as np
import pytest

from implementations import dense, fused, latent, online
from spec.attention import rounding
from spec.attention.notation import Problem
from spec.comparison import equal
from spec.notation import Array

B, H, N, M, D, R, C, E = 2, 3, 5, 7, 2, 4, 11, 13
SHAPES = ((B, H, N, D), (B, H, N, R), (B, M, C), (B, M, R), (H, D, C), (H, E, C))


def inputs(seed: int = 0) -> list[Array]:
    """Small integers, of which all products are exact."""
    chance = np.random.default_rng(seed)
    return [chance.integers(-3, 4, shape).astype(float) for shape in SHAPES]


def written_out(arrays: list[Array], **options: Array | bool) -> Problem:
    """What `expanded` asks."""
    q, turned, c, r, W, U = arrays
    k, v = (c[:, None] @ x.swapaxes(-1, -2) for x in (W, U))
    whole = np.concatenate([k, np.repeat(r[:, None], H, axis=1)], axis=-1)
    q = np.concatenate([q, turned], axis=-1)
    dout = np.zeros((B, H, N, E))
    return Problem(q, whole, v, dout, scale=1 / np.sqrt(D + R), **options)


@pytest.mark.parametrize("attend", [dense.attend, online.attend, fused.attend])
@pytest.mark.parametrize("hidden", [False, True])
def test_both_ways_are_attention_to_the_keys_written_out(attend: latent.Attend, hidden: bool):
    arrays, rows = inputs(), np.arange(M) != 3
    problem = written_out(arrays, causal=hidden, mask=np.tile(rows, (N, 1)))
    right, within = rounding.reference(problem).o, rounding.of_output(problem)
    options = {"attn_mask": rows, "is_causal": hidden, "attend": attend}
    one, other = latent.expanded(*arrays, **options), latent.absorbed(*arrays, **options)
    assert one.shape == other.shape == (B, H, N, E)
    equal(one, right, within=within)
    U = np.abs(arrays[-1])
    narrow = problem.but(v=np.repeat(arrays[2][:, None], H, axis=1), dout=np.zeros((B, H, N, C)))
    equal(other, right, within=rounding.of_output(narrow) @ U.swapaxes(-1, -2) + 2 * within)


def test_no_value_is_copied_and_no_key_is_made() -> None:
    seen = []

    def spied(q: Array, k: Array, v: Array, **options: float) -> Array:
        seen.append((k.shape, np.shares_memory(k, v), options["scale"]))
        return dense.attend(q, k, v, **options)

    latent.absorbed(*inputs(), attend=spied)
    assert seen == [((B, 1, M, C + R), True, 1 / np.sqrt(D + R))]


def test_the_width_of_the_latents_is_no_scale() -> None:
    def unscaled(*x: Array, **options: float) -> Array:
        return dense.attend(*x, **{**options, "scale": None})

    right, wrong = (latent.absorbed(*inputs(), attend=f) for f in (dense.attend, unscaled))
    assert np.abs(right - wrong).max() > 0.1
