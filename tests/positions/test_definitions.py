"""The definitions of positions, beside many digits, fractions and autograd."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import implementations.rotary
from spec.attention import definition as attention
from spec.attention.notation import Problem as Attention
from spec.notation import Array
from spec.positions import angles
from spec.positions.alibi import definition as alibi
from spec.positions.alibi.notation import Problem as Scores
from spec.positions.pairing import PAIRINGS, inverse, order
from spec.positions.rotary import definition as rotary
from spec.positions.rotary import rounding as of_rotary
from spec.positions.rotary.notation import Problem as Queries
from spec.positions.sinusoidal import definition as sinusoidal
from spec.positions.sinusoidal import rounding as of_sinusoidal
from spec.positions.sinusoidal.notation import Problem as Tokens


def exact_angle(p: int, i: int, width: int, base: float = 10000.0) -> Any:
    """p theta_i in the current number of digits."""
    return p * mpmath.power(mpmath.mpf(base), -mpmath.mpf(2 * i) / width)


@pytest.mark.parametrize("E", [1, 2, 3, 5, 16, 65, 128])
@pytest.mark.parametrize("first", [0, 7, 99999])
def test_the_table_is_that_of_many_digits(E: int, first: int) -> None:
    x = np.zeros((1, 3, E))
    problem = Tokens(x, x, first=first)
    got, within = sinusoidal.table(problem.wide()), of_sinusoidal.of_table(problem)
    with mpmath.workdps(60):
        for n, c in np.ndindex(3, E):
            wave = (mpmath.sin, mpmath.cos)[c % 2]
            want = wave(exact_angle(first + n, c // 2, E))
            assert abs(mpmath.mpf(str(got[n, c])) - want) <= within[n, c]


@pytest.mark.parametrize("p", [3, 300, 99999])
def test_a_budget_covers_angles_that_stray_as_far_as_they_may(p: int) -> None:
    u = 2.0**-24
    a, delta = (
        angles.angles(np.array(p), 8, 10000.0),
        angles.of_angles(np.array(p), 8, 10000.0, u),
    )
    off_c, off_s = angles.of_cosines(a, delta, u)
    for share in (-1, -0.5, 0.5, 1):
        assert (np.abs(np.cos(a + share * delta) - np.cos(a)) <= off_c).all()
        assert (np.abs(np.sin(a + share * delta) - np.sin(a)) <= off_s).all()


def queries(seed: int, D: int, positions: list[int], **options: Any) -> Queries:
    """A problem of lattice numbers, two batch elements and three heads."""
    chance = np.random.default_rng(seed)
    shape = (2, 3, len(positions), D)
    arrays = [chance.integers(-64, 65, shape) / 16 for _ in range(4)]
    return Queries(*arrays, positions=np.tile(np.array(positions, float), (2, 1)), **options)


@pytest.mark.parametrize("options", [{}, {"turned": 4}, {"base": 500000.0}])
def test_the_rotation_is_a_complex_product_of_many_digits(options: dict[str, Any]) -> None:
    problem = queries(0, 6, [0, 1, 31, 99999], **options)
    got, within = rotary.rotate(problem.wide()), of_rotary.of_rotation(problem)
    with mpmath.workdps(60):
        for b, h, n, i in np.ndindex(2, 3, 4, problem.width // 2):
            x = problem.q[b, h, n, 2 * i : 2 * i + 2]
            a = exact_angle(int(problem.positions[b, n]), i, problem.width, problem.base)
            z = mpmath.mpc(*x) * mpmath.expj(a)
            for c, part in enumerate((z.real, z.imag)):
                at = b, h, n, 2 * i + c
                assert abs(mpmath.mpf(str(got[at])) - part) <= within[at]
    assert (got[..., problem.width :] == problem.q[..., problem.width :]).all()


def test_scores_by_differences_are_products_of_rotated_rows() -> None:
    problem = queries(1, 6, [5, 0, 17], turned=4).wide()
    q, k, _ = rotary.place(problem)
    off = np.abs(rotary.scores(problem) - q @ k.swapaxes(-1, -2)).max()
    assert off <= 100 * np.finfo(np.longdouble).eps * np.abs(q).max() ** 2


@pytest.mark.torch
def test_the_backward_pass_is_that_of_autograd() -> None:
    import torch

    from implementations.rotary_torch import rotate

    problem = queries(2, 4, [0, 3, 50])
    q = torch.tensor(problem.q, requires_grad=True)
    (rotate(q, torch.tensor([0, 3, 50])) * torch.tensor(problem.dout)).sum().backward()
    assert q.grad is not None
    off = np.abs(q.grad.numpy() - rotary.backward(problem))
    assert (off <= 2 * of_rotary.of_backward(problem)).all()


def published_exponents(heads: int) -> list[Fraction]:
    """The rule of the published program, by recursion, in fractions."""
    n = 1
    while 2 * n <= heads:
        n *= 2
    first = [Fraction(8 * h, n) for h in range(1, n + 1)]
    return first if n == heads else first + published_exponents(2 * n)[0::2][: heads - n]


@pytest.mark.parametrize("heads", range(1, 70))
def test_slopes_are_those_of_the_published_program(heads: int) -> None:
    assert [Fraction(x) for x in alibi.exponents(heads)] == published_exponents(heads)


def test_eight_heads_have_the_slopes_of_the_paper() -> None:
    assert alibi.published(8).tolist() == [2.0**-h for h in range(1, 9)]


def test_weights_without_scores_fade_exactly() -> None:
    problem = Scores(np.zeros((3, 4, 6)), asked=np.array([0.0, 0.5, 3.0]))
    with mpmath.workdps(40):
        for h, i, j in np.ndindex(3, 4, 6):
            r, p = mpmath.exp(-mpmath.mpf(problem.asked[h])), problem.first + i
            want = r ** (p - j) / sum(r ** (p - t) for t in range(p + 1)) if j <= p else 0
            assert abs(alibi.fading(problem)[h, i, j] - want) <= 1000 * np.finfo(float).eps * want


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize(("width", "turned"), [(6, None), (5, None), (7, 4), (1, None)])
def test_pairings_are_permutations(pairing: str, width: int, turned: int | None) -> None:
    there, back = order(width, pairing, turned), inverse(width, pairing, turned)
    assert sorted(there) == list(range(width))
    assert (there[back] == np.arange(width)).all()


def test_the_two_pairings_are_conjugate_by_a_permutation() -> None:
    q, p = queries(3, 6, [0, 4, 9]).q, np.array([0, 4, 9])
    columns = order(6, "halves")
    halves = implementations.rotary.rotate_halves(q[..., columns], p)
    assert np.abs(halves[..., inverse(6, "halves")] - implementations.rotary.rotate(q, p)).max() < (
        64 * np.finfo(float).eps
    )


def pooled(x: Array) -> Array:
    """The mean over all tokens of self-attention to x (N, E), in 1/2^20ths.   (E)"""
    y = x[None, None]
    o = attention.attention(Attention(y, y, y, y))[0, 0]
    return np.round(o.mean(axis=0) * 2**20)


def test_how_are_you_is_told_from_you_how_are_by_positions_alone() -> None:
    how_are_you = np.random.default_rng(0).integers(-16, 17, (1, 3, 4)) / 16
    you_how_are = how_are_you[:, [2, 0, 1]]
    assert (pooled(how_are_you[0]) == pooled(you_how_are[0])).all()
    one, two = (sinusoidal.add(Tokens(x, x))[0] for x in (how_are_you, you_how_are))
    assert (pooled(one) != pooled(two)).any()
