"""The executable specification of multi-head attention: the table of contents.

There are seven chapters, each about one kind of subject. All have the same structure:

    attention         A S V K B P M C W U Z Y I J H X T    attention itself; begin here
    layer             L    attention between four projections
    cache             C    decoding with a KV cache
    positions         R    sinusoidal, rotary and ALiBi positions
    feed_forward      F    the network that follows attention in a transformer block
    dropout           D    dropout on attention weights
    merging           Q    partial results over two sets of keys give the result over all

    notation, definition    the terms and a problem; the definition, written for clarity
    clauses                 the claims: each a sentence, a formula and a check of a few lines
    domain                  the problems that the clauses are tested on
    rounding                error bounds for a correct implementation, derived
    proofs, mistakes        why a clause is true, and the known bugs that it must reject
    record, truth, plug     what is tested; the definition, and ordinary programs, as such records
    kind                    everything that the engine needs to know about the chapter

The chapters share the modules of this package: `notation`, `subject`, `clause`, `comparison`,
`trial`, `domain`, `sizes`, `entries`, `formats`, `mistake`, `simplify`, `written` and `version`.
Proofs are written with `proving`. `backends` covers the arrays of NumPy, torch and JAX. `kind`, its
`abilities` and `kinds` register the chapters, `laws` has all their clauses, and `certification` is
the engine, which is the same for all kinds. `adapters` has targets of other libraries, which
nothing imports.

    from attention_spec import certify
    print(certify("torch.nn.functional:scaled_dot_product_attention"))

Installed, the package is called `attention_spec`; only in the repository is it `spec`.
"""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:  # `python -m spec`
    # A file that lies where it is started is no module of Python, whatever its name is.
    sys.path.append(sys.path.pop(0))

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spec.attention.assertion import assert_attention
    from spec.attention.notation import Gradients, Problem
    from spec.attention.record import Implementation
    from spec.certification import certify, grade, parametrize_with_clauses, rerun
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
    "grade",
    "parametrize_with_clauses",
    "record",
    "rerun",
]

DOORS = {
    **dict.fromkeys(("CLAUSES", "SECTIONS", "about"), ".laws"),
    **dict.fromkeys(("Gradients", "Problem"), ".attention.notation"),
    **dict.fromkeys(("certify", "grade", "parametrize_with_clauses", "rerun"), ".certification"),
    "Clause": ".clause",
    "Implementation": ".attention.record",
    "Violation": ".comparison",
    "assert_attention": ".attention.assertion",
    "record": ".certification.target.loading",
}


def __getattr__(name: str) -> Any:
    """A public name, imported on first use: reading the specification loads no engine."""
    if name in DOORS:
        return getattr(import_module(DOORS[name], __name__), name)
    raise AttributeError(f"module 'spec' has no attribute {name!r}")
