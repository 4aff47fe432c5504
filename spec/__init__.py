"""The executable specification of multi-head attention: the table of contents.

Seven chapters, each about one kind of subject, and all of one shape:

    attention         A S V K B P M C W U Z Y I J H X T    attention itself; begin here
    layer             L    a layer is attention between projections
    cache             C    decoding with a cache is decoding without one
    positions         R    how attention comes to know what came first: three kinds
    feed_forward      F    the half of a block that is not attention
    dropout           D    weights left out by chance
    merging           Q    what is known of some keys and of others makes what is known of all

    notation, definition    the words and a problem; what it is, slowly and obviously
    clauses                 the laws: each a sentence, a formula and a check of a few lines
    domain                  where they quantify
    rounding                how far a right implementation may stray, derived
    proofs, mistakes        why a law is believed, and what it must reject
    record, truth, plug     what is judged; the definition as one; an ordinary program as one
    kind                    all that the engine may ask of the chapter

Around them: the words that all share (`notation`, `subject`, `clause`, `comparison`, `trial`,
`domain`, `sizes`, `entries`, `formats`, `mistake`, `simplify`, `written`, `version`), `proving`, in
which proofs are written, `backends`, arrays of NumPy, torch and JAX, `kind` and `kinds`, the
register, and `certification`, the engine, which knows no kind. `laws` has the clauses of all
chapters.

    from attention_spec import certify
    print(certify("torch.nn.functional:scaled_dot_product_attention"))

Installed, all this is `attention_spec`; `spec` is its name in the repository alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spec.attention.assertion import assert_attention
    from spec.attention.notation import Gradients, Problem
    from spec.attention.record import Implementation
    from spec.certification import certify, parametrize_with_clauses, rerun
    from spec.certification.target.loading import record
    from spec.clause import Clause
    from spec.comparison import Violation
    from spec.laws import CLAUSES, SECTIONS, about

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

DOORS = {
    **dict.fromkeys(("CLAUSES", "SECTIONS", "about"), ".laws"),
    **dict.fromkeys(("Gradients", "Problem"), ".attention.notation"),
    **dict.fromkeys(("certify", "parametrize_with_clauses", "rerun"), ".certification"),
    "Clause": ".clause",
    "Implementation": ".attention.record",
    "Violation": ".comparison",
    "assert_attention": ".attention.assertion",
    "record": ".certification.target.loading",
}


def __getattr__(name: str) -> Any:
    """The doors, opened when they are used: to read the specification takes no certification."""
    if name in DOORS:
        return getattr(import_module(DOORS[name], __name__), name)
    raise AttributeError(f"module 'spec' has no attribute {name!r}")
