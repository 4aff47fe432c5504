"""Section J, continued. Gradients, weights and log-sum-exp respect segments.

A key of another segment has weight zero, so no gradient flows between that key and the query:

    dk_j = 0,    dv_j = 0    unless some i with seg_i = seg_j >= 0 has dout_i != 0

Weights and log-sum-exp are often computed on a separate path. That path must apply segments too.
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
from spec.comparison import equal, equal_in
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
def no_gradient_flows_between_segments(attention: Implementation, problem: Problem) -> None:
    """A loss on one segment gives no gradient to the tokens of any other segment.

        dq_l, dk_j, dv_j = 0    for l, j outside segment t, where dout is zero outside t

    The zeros are exact, so packed sequences can be trained as if each came in a separate call.
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
def padding_tokens_receive_no_gradient(attention: Implementation, problem: Problem) -> None:
    """Padding tokens receive no gradient, whatever finite cotangents they have.

        dq_i = 0    for seg_i < 0,    dk_j = dv_j = 0    for seg_j < 0

    A padding query attends to no key, and no query attends to a padding key. The cotangents dout of
    padding rows are often not zero, for example if a loss averages over all rows.
    """
    more = padded(problem)
    live = ((x >= 0)[:, None, :, None] for x in segments_of(more))

    none_outside(attention.backward(more), *live)


def none_outside(gradients: Gradients, queries: Array, keys: Array) -> None:
    """Raise Violation unless gradients are exactly zero outside the given queries and keys."""
    for x, own in ((gradients.q, queries), (gradients.k, keys), (gradients.v, keys)):
        equal(np.where(own, 0, x), np.zeros(x.shape), within=0)


@clause(
    "J16",
    over=Problems(segments=True, families=SMOOTH),
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_segments"},
)
def gradients_respect_segments(attention: Implementation, problem: Problem) -> None:
    """The gradients of q, k and v use only the weights within a segment.

        ds_ij = a_ij (da_ij - sum_j a_ij da_ij),    dv_j = sum_i a_ij dout_i

    Here da_ij = <dout_i, v_j>. If query heads share a key head, dk and dv are summed over them.
    """
    exact, budget = rounding.reference(problem).gradients, rounding.of_gradients(problem)

    found = attention.backward(problem)

    equal_in("qkv", found, exact, within=budget)


@clause(
    "J17", over=LOOSE, needs={Capability.WEIGHTS}, catches={"shows_weights_without_the_segments"}
)
def returned_weights_are_zero_across_segments(attention: Implementation, problem: Problem) -> None:
    """The returned attention weights are zero for keys of other segments and for padding.

    a_ij = 0    unless seg_i = seg_j >= 0
    """
    a = attention.weights(problem)

    equal(np.where(problem.same_text, 0, a), np.zeros(a.shape), within=0)


@clause("J18", over=LOOSE, needs={Capability.LSE}, catches={"measures_lse_without_the_segments"})
def log_sum_exp_covers_only_the_query_segment(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp covers only keys of the query's segment; for padding it is -inf or the sink.

        lse_i = log sum_j exp(s_ij)    over seg_j = seg_i >= 0, without an attention sink

    A log-sum-exp that also covers other segments gives wrong weights when the parts of the keys
    are merged by it.
    """
    lse = attention.lse(problem)

    equal(lse, rounding.reference(problem).lse, within=rounding.of_lse(problem))
