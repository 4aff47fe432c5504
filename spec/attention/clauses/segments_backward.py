"""Section J, continued. What flows back from a text, and what is shown of it.

A key of another text has no weight, so it has no gradient either, and none of its own reaches it:

    dk_j = 0,    dv_j = 0    unless some i with seg_i = seg_j >= 0 has dout_i != 0

Weights and log-sum-exp are often computed on a path of their own, which has to know texts too.
"""

import numpy as np

from spec.attention import rounding
from spec.attention.clauses.segments import (
    ANYWHERE,
    LOOSE,
    TEXTS,
    met,
    of_the_first,
    padded,
    segments_of,
)
from spec.attention.domain import Problems
from spec.attention.notation import Gradients, Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal
from spec.notation import Array

SMOOTH = ("lattice", "normal", "heavy")


@clause(
    "J14",
    over=TEXTS,
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_segments"},
    effort=2,
    proof=exactly.no_gradient_leaves_its_text,
)
def no_gradient_leaves_its_text(attention: Implementation, problem: Problem) -> None:
    """What a text is taught, no other learns.

        dq_l, dk_j, dv_j = 0    outside of t, where dout is zero outside of t

    Exactly: so texts of one array may be trained as if each came alone.
    """
    problem = met(problem)
    mine, theirs = (x[:, None, :, None] for x in of_the_first(problem))
    taught = problem.but(dout=np.where(mine, problem.dout, 0))

    none_outside(attention.backward(taught), mine, theirs)


@clause(
    "J15",
    over=TEXTS,
    needs={Capability.GRADIENTS, *ANYWHERE},
    catches={"lets_padding_teach_padding", "differentiates_without_the_segments"},
    effort=2,
)
def padding_learns_nothing(attention: Implementation, problem: Problem) -> None:
    """Padding gets no gradient, whatever is asked of it.

        dq_i = 0    for seg_i < 0,    dk_j = dv_j = 0    for seg_j < 0

    Cotangents of padded rows are often no zeros: a loss that averages over them sends some.
    """
    more = padded(problem)
    live = ((x >= 0)[:, None, :, None] for x in segments_of(more))

    none_outside(attention.backward(more), *live)


def none_outside(gradients: Gradients, queries: Array, keys: Array) -> None:
    """Raise Violation unless gradients are exactly zero but for some queries and keys."""
    for x, own in ((gradients.q, queries), (gradients.k, keys), (gradients.v, keys)):
        equal(np.where(own, 0, x), np.zeros(x.shape), within=0)


@clause(
    "J16",
    over=Problems(segments=True, families=SMOOTH),
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_segments"},
)
def gradients_know_the_texts(attention: Implementation, problem: Problem) -> None:
    """Gradients are those of the weights that are left within a text.

    ds_ij = a_ij (da_ij - sum_j a_ij da_ij),    dv_j = sum_i a_ij dout_i
    """
    exact, budget = rounding.reference(problem).gradients, rounding.of_gradients(problem)

    found = attention.backward(problem)

    equal(found.q, exact.q, within=budget.q)
    equal(found.k, exact.k, within=budget.k)
    equal(found.v, exact.v, within=budget.v)


@clause(
    "J17", over=LOOSE, needs={Capability.WEIGHTS}, catches={"shows_weights_without_the_segments"}
)
def the_weights_that_are_shown_know_the_texts(attention: Implementation, problem: Problem) -> None:
    """The weights that are returned are zero for keys of other texts.

    a_ij = 0    unless seg_i = seg_j >= 0
    """
    a = attention.weights(problem)

    equal(np.where(problem.same_text, 0, a), np.zeros(a.shape), within=0)


@clause("J18", over=LOOSE, needs={Capability.LSE}, catches={"measures_lse_without_the_segments"})
def the_log_sum_exp_is_that_of_a_text(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp counts the keys of a query's own text, and is -inf for padding.

        lse_i = log sum_j exp(s_ij)    over seg_j = seg_i >= 0

    Parts of the keys that are merged by it would have shares of texts that they never saw.
    """
    lse = attention.lse(problem)

    equal(lse, rounding.reference(problem).lse, within=rounding.of_lse(problem))
