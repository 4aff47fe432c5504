"""The executable specification of multi-head attention: the table of contents.

Six chapters, each about one kind of subject, and all of one shape:

    attention         A S V K B P M C H X T    attention itself; begin here
    layer             L    a layer is attention between projections
    cache             C    decoding with a cache is decoding without one
    positions         R    how attention comes to know what came first: three kinds
    feed_forward      F    the half of a block that is not attention
    dropout           D    weights left out by chance

    notation, definition    the words and a problem; what it is, slowly and obviously
    clauses                 the laws: each a sentence, a formula and a check of a few lines
    domain                  where they quantify
    rounding                how far a right implementation may stray, derived
    proofs, mistakes        why a law is believed, and what it must reject
    record, truth, plug     what is judged; the definition as one; an ordinary program as one
    kind                    all that the engine may ask of the chapter

Around them: the words that all share (`notation`, `subject`, `clause`, `comparison`, `trial`,
`domain`, `sizes`, `entries`, `formats`, `mistake`, `simplify`, `written`), `proving`, in which
proofs are written, `backends`, arrays of NumPy, torch and JAX, `kind` and `kinds`, the register,
and `certification`, the engine, which knows no kind.

    from spec import certify
    print(certify("torch.nn.functional:scaled_dot_product_attention"))

Where `spec` is somebody else's, all this is `attention_spec`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spec import attention, cache, dropout, feed_forward, layer, positions
from spec.attention.notation import Gradients, Problem
from spec.attention.record import Implementation
from spec.clause import Clause, clauses_of
from spec.comparison import Violation

if TYPE_CHECKING:
    from spec.attention.assertion import assert_attention
    from spec.certification import certify, parametrize_with_clauses, rerun
    from spec.certification.target.loading import record

__all__ = [
    "CLAUSES",
    "SECTIONS",
    "Clause",
    "Gradients",
    "Implementation",
    "Problem",
    "Violation",
    "about",
    "assert_attention",
    "certify",
    "parametrize_with_clauses",
    "record",
    "rerun",
]

SECTIONS = (
    *attention.SECTIONS,
    *cache.SECTIONS,
    *layer.SECTIONS,
    *positions.SECTIONS,
    *feed_forward.SECTIONS,
    *dropout.SECTIONS,
)
CLAUSES = clauses_of(SECTIONS)
DOORS = {
    "assert_attention": ".attention.assertion",
    "certify": ".certification",
    "parametrize_with_clauses": ".certification",
    "record": ".certification.target.loading",
    "rerun": ".certification",
}


def about(kind: str) -> dict[str, Clause]:
    """The clauses about one kind of subject, by number: "attention", "layer", "cache", ..."""
    return {number: clause for number, clause in CLAUSES.items() if clause.about == kind}


def __getattr__(name: str) -> Any:
    """The doors, opened when they are used: to read the specification takes no certification."""
    if name in DOORS:
        return getattr(import_module(DOORS[name], __name__), name)
    raise AttributeError(f"module 'spec' has no attribute {name!r}")
