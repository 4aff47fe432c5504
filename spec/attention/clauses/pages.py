"""Section P, continued. The pages of a cache may lie anywhere.

A server gives each sequence whatever pages are free, and a table lists them. Which pages a sequence
has should not matter (A1 draws them at random), but may decide in which order a kernel adds what it
reads. Equal bits are a promise of the implementation (`spec.promises`).
"""

from spec.attention.clauses.batches import UNEVEN
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import same_bits

PLACES = (3, 16)  # keys per page


@clause(
    "P14",
    over=Problems(tiled="keys", masks=PLAIN, families=UNEVEN),
    needs={Capability.PAGES},
    catches={"adds_pages_by_their_numbers"},
    effort=2,
    promise="pages",
)
def other_pages_change_no_bit(attention: Implementation, problem: Problem) -> None:
    """The output is the same, bit for bit, in whichever pages of a cache the keys lie.

        o(q; pages, table) = o(q; pages', table')    if both hold the same keys and values

    The pages have the same size in both calls, and another order; how many pages no sequence has
    may differ. A program that reads pages in the order in which they lie adds in another order.
    """
    here = problem.but(page=problem.chance().choice(PLACES))
    there = here.but(seed=here.seed + 1)  # the seed settles which pages a sequence has

    same_bits(attention.forward(there), attention.forward(here))
