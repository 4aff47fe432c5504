"""Section C, continued. Whether a sequence is processed in pieces or at once changes no bit.

Both give the same result up to rounding (C1, C12). But kernels for a single query add in another
order than those for many, and the number of keys decides how these are split. Equal bits are a
promise of the implementation (`spec.promises`). Speculative decoding relies on it: it compares
tokens that were computed together with tokens that were computed one at a time.
"""

from spec.attention import moves
from spec.attention.clauses.batches import UNEVEN
from spec.attention.clauses.decoding import prefix
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import same_bits

IN_TIME = Problems(
    masks=PLAIN,
    families=UNEVEN,
    causal=True,
    square=True,
    positions=False,
    windows=False,
    slopes=False,
    sinks=False,
    least=(1, 1, 9, 9),
)


@clause("C45", over=IN_TIME, catches={"chooses_tiles_by_length"}, effort=2, promise="chunk")
def causal_prefix_has_same_bits(attention: Implementation, problem: Problem) -> None:
    """Causal attention over the first t tokens gives the first t outputs of the sequence,
    bit for bit.

        o(x[:t])_i = o(x)_i    for i < t, where x are q, k and v

    The first chunk of a prompt is such a prefix. C1 allows rounding errors.
    """
    t = problem.chance().randrange(1, problem.N)

    whole, part = attention.forward(problem), attention.forward(prefix(problem, t))

    same_bits(part, whole[:, :, :t])


@clause(
    "C46",
    over=IN_TIME,
    needs={Capability.FUTURE},
    catches={"has_another_program_for_a_single_query"},
    effort=2,
    promise="chunk",
)
def decoding_has_bits_of_causal_attention(attention: Implementation, problem: Problem) -> None:
    """Decoding token t from all keys so far gives row t of causal attention, bit for bit.

        o(q_t; k[:t+1], v[:t+1]) = o(q, k, v; causal)_t

    The left-hand side has a single query and no causality. C12 allows rounding errors.
    """
    t = problem.chance().randrange(problem.N // 2, problem.N)
    step = moves.of_keys(moves.of_queries(problem, [t]), slice(0, t + 1)).but(causal=False)

    whole, one = attention.forward(problem), attention.forward(step)

    same_bits(one, whole[:, :, t : t + 1])
