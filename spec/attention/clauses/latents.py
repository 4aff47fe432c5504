"""Section H, continued. Projections of latents may be absorbed into queries and output.

A model may store one vector c_j for each token, a *latent*, from which each head computes its key
and its value

    k_hj = W_h c_j        v_hj = U_h c_j

(DeepSeek-AI 2024, DeepSeek-V2, section 2.1.2). Then <q, W_h c_j> = <W_h^T q, c_j>, and a mean of
U_h c_j is U_h applied to the mean of c_j. So W_h can be *absorbed* into the queries, and U_h into
the output. The latents are then both keys and values, of a key head that query heads share. Its
keys are wider than those of the heads, and its values are a prefix of its keys. Such models decode
in this form, and the result is that of the expanded keys and values. The scale has to be that of
the expanded keys, because nothing in the call shows how wide these were.
"""

import numpy as np

from spec.attention import definition, rounding
from spec.attention.domain import Problems
from spec.attention.latents import absorbed, expanded, turns
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import of_latents
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal

LATENTS = Problems(grouped=True, equal_widths=True, families=("lattice", "ties"))
NEEDS = {Capability.GROUPS, Capability.WIDTHS, Capability.SCALE}


@clause(
    "H7",
    over=LATENTS,
    needs=NEEDS,
    catches={
        "scales_shared_keys_by_their_own_width",
        "leaves_out_what_keys_have_beyond_values",
        "reads_the_first_key_head",
    },
    proof=of_latents.latents_may_be_absorbed,
)
def latent_attention_equals_expanded_attention(attention: Implementation, problem: Problem) -> None:
    """Attention over shared latents equals attention over the keys and values computed from them.

        U_h o(W_h^T q, c, c) = o(q, W_h c, U_h c)

    Head h computes its keys W_h c and values U_h c from latents c, which query heads share. On the
    left it reads the latents themselves: <q, W_h c_j> = <W_h^T q, c_j>, and a mean of U_h c_j is
    U_h times the mean of c_j. The values on the left are only those columns of c that U_h uses, so
    they are narrower than the keys. On both sides the default scale is that for the width of W_h c.
    """
    few, many = absorbed(problem), expanded(problem)
    _, U = turns(problem)

    o, p = attention.forward(few), attention.forward(many)

    within = rounding.of_output(few) @ np.abs(U) + rounding.of_output(many)
    equal(o @ U, p, within=within)


@clause(
    "H8",
    over=LATENTS,
    needs={Capability.GRADIENTS, *NEEDS},
    catches={"scales_shared_gradients_by_their_own_width", "takes_one_head_of_each_group"},
    proof=of_latents.gradients_of_latents_add_up,
)
def latent_gradient_sums_key_and_value_gradients(
    attention: Implementation, problem: Problem
) -> None:
    """The gradient of latents sums their gradients as keys and values, over heads that share them.

        dc = dk + (dv, 0) = sum_h (W_h^T dk_h + U_h^T dv_h),    dq_h = W_h dq'_h

    The latents c are one array that is read twice, so their gradient is a sum. Both sides are those
    of H7: dk, dv and dq'_h are the gradients of a call with latents and the cotangent U_h^T dout_h,
    where dv is padded with zeros to the width of dk. A call with the keys W_h c, values U_h c and
    cotangent dout_h has dk_h, dv_h and dq_h.
    """
    few, many = absorbed(problem), expanded(problem)
    (s, U), D, G = turns(problem), problem.D, problem.G

    here, there = attention.backward(few), attention.backward(many)

    a, b = rounding.of_gradients(few), rounding.of_gradients(many)
    back, size = U.swapaxes(-1, -2), np.abs(U).swapaxes(-1, -2)
    equal(here.q[..., :D] + s * here.q[..., D:], there.q, within=a.q[..., :D] + a.q[..., D:] + b.q)
    first = definition.gathered(there.k + there.v @ back, G)
    within = a.k[..., :D] + a.v + definition.gathered(b.k + b.v @ size, G)
    equal(here.k[..., :D] + here.v, first, within=within)
    second = definition.gathered(s * there.k, G)
    equal(here.k[..., D:], second, within=a.k[..., D:] + definition.gathered(b.k, G))
