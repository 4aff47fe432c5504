"""A softmax written by hand, whose maximum autograd differentiates too, is certified."""

import numpy as np
import pytest

from spec import certify
from spec.attention import rounding
from spec.attention.notation import Problem
from spec.attention.rounding.maximum import furthest
from tests.night import deep

pytestmark = pytest.mark.torch

GRADIENTS = ("A3", "S11")


def by_hand(query, key, value):
    """Attention as most people write it; what is in `m` has no derivative but in rounding."""
    import torch

    s = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    m = s.amax(-1, keepdim=True)
    e = torch.exp(s - m)
    return (e / e.sum(-1, keepdim=True)) @ value


def divided_late(query, key, value):
    """The same, with the output divided, and one of the keys that tie chosen."""
    import torch

    s = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    e = torch.exp(s - s.max(-1, keepdim=True).values)
    return (e @ value) / e.sum(-1, keepdim=True)


@pytest.mark.parametrize("seed", [0, *map(deep, range(1, 4))])
@pytest.mark.parametrize("attend", [by_hand, divided_late])
def test_a_softmax_whose_maximum_is_differentiated_is_certified(attend, seed: int) -> None:
    dtypes = ("float32", "float16", "bfloat16")
    certificate = certify(
        attend, backend="torch", dtypes=dtypes, clauses=GRADIENTS, profile="quick", seed=seed
    )
    assert certificate.passed, str(certificate)


def posed(scores: list[float], dtype: str = "float16") -> Problem:
    """Two keys and more with these scores, and one value for all."""
    k = np.array(scores)[None, None, :, None]
    one = np.ones((1, 1, 1, 1))
    values = np.ones(k.shape)
    return Problem(one, k, values, one, scale=1.0, dtype=dtype, rounding="eager")


def test_only_keys_that_may_attain_the_maximum_are_granted_the_residue() -> None:
    for dtype, near in (("float16", 2.0**-11), ("float32", 2.0**-24)):
        top = rounding.bounds(posed([1.0, 1 - near, 0.5, -1.0], dtype)).backward.maximum.top
        np.testing.assert_array_equal(top[0, 0, 0], [1, 1, 0, 0])


def test_the_furthest_of_the_keys_that_tie_is_found_in_every_row() -> None:
    chance = np.random.default_rng(0)
    for shape in ((2, 3, 4, 5), (1, 1, 1, 1), (1, 2, 3, 0), (2, 1, 0, 3)):
        top = chance.choice([0.0, 0.0, 0.5, 1.0], shape)  # some rows have none
        x = chance.random((*shape[:2], shape[3], 6))
        want = (top[..., None] * x[:, :, None]).max(axis=-2, initial=0.0)
        np.testing.assert_array_equal(furthest(top, x), want)
