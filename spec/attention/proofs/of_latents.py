"""Laws of keys and values that are made of latents, run through the definition in fractions."""

import numpy as np

from spec.attention import definition
from spec.attention.latents import absorbed, expanded, turns
from spec.attention.notation import Problem
from spec.attention.proofs.examples import exactly
from spec.notation import Array


def of_one_width(problem: Problem) -> Problem:
    """The problem with values as wide as its keys."""
    return problem.but(v=problem.k, dout=problem.q)


@exactly(times=2)
def latents_may_be_absorbed(problem: Problem, times: int = 1) -> Array:
    """o(W_h^T q, c, c) U_h = o(q, W_h c, U_h c). The control scales by another width."""
    here = of_one_width(problem)
    few, (_, U) = absorbed(here), turns(here)
    o = definition.attention(few.but(scale=times * few.sigma))
    return o @ U - definition.attention(expanded(here))


@exactly(values=0)
def gradients_of_latents_add_up(problem: Problem, values: int = 1) -> Array:
    """dc = sum_h W_h^T dk_h + U_h^T dv_h, of the first half. The control: of keys alone."""
    here = of_one_width(problem)
    few, many = definition.gradients(absorbed(here)), definition.gradients(expanded(here))
    back = values * (many.v @ turns(here)[1].swapaxes(-1, -2))
    both = few.k[..., : here.D] + few.v
    return np.asarray(both - definition.gathered(many.k + back, here.G))
