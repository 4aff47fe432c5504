"""All clauses, chapter by chapter."""

from spec import attention, cache, dropout, feed_forward, layer, merging, positions
from spec.clause import Clause, clauses_of

SECTIONS = (
    *attention.SECTIONS,
    *cache.SECTIONS,
    *layer.SECTIONS,
    *positions.SECTIONS,
    *feed_forward.SECTIONS,
    *dropout.SECTIONS,
    *merging.SECTIONS,
)
CLAUSES = clauses_of(SECTIONS)


def about(kind: str) -> dict[str, Clause]:
    """The clauses about one kind of subject, by number: "attention", "layer", "cache", ..."""
    return {number: clause for number, clause in CLAUSES.items() if clause.about == kind}
