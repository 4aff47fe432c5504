"""Section M, continued. Room behind the keys changes no bit.

Keys that are masked for all queries are room: the end of a cache that is not full, or padding up to
the longest sequence of a batch. How much room there is should not matter (M2), but may decide how a
kernel splits the keys. Equal bits are a promise of the implementation (`spec.promises`).
"""

import numpy as np

from spec.attention.clauses.batches import UNEVEN
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import same_bits

ROOM = (1, 6, 130)  # masked keys


@clause(
    "M31",
    over=Problems(
        masks=PLAIN,
        families=UNEVEN,
        causal=False,
        windows=False,
        slopes=False,
        segments=False,
        positions=False,
        least=(1, 1, 1, 9),
    ),
    needs={Capability.MASK},
    catches={"chooses_tiles_by_length"},
    effort=2,
    promise="length",
)
def masked_keys_behind_others_change_no_bit(attention: Implementation, problem: Problem) -> None:
    """Masked keys behind all others change no bit of the output, however many they are.

        o(q, [k, x], [v, y]; mask j < M) = o(q, k, v; mask True)    x, y: more keys and values

    Both calls have a mask, so that they take the same path. M2 allows rounding errors.
    """
    room = problem.chance().choice(ROOM)
    k, v = (
        np.concatenate([x, np.resize(x, (*x.shape[:2], room, x.shape[-1]))], axis=2)
        for x in (problem.k, problem.v)
    )
    seen = np.broadcast_to(np.arange(problem.M + room) < problem.M, (problem.N, problem.M + room))
    padded = problem.but(k=k, v=v, mask=seen)
    exact = problem.but(mask=np.ones((problem.N, problem.M), dtype=bool))

    same_bits(attention.forward(padded), attention.forward(exact))
