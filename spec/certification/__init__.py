"""The engine: from a target to a certificate, by stages, and of no kind in particular.

    target        from a name to a record: loaded, probed, its conventions recognised
    judging       problems are drawn, a clause is run on each, and what came of it is its verdict
    explaining    a failure is made smaller, and written as a script
    diagnosing    failures are explained: the causes, and the region outside of them
    isolation     all this in a child process, which may die or hang, here or where others work
    ledger        verdicts as a certificate: as text, as JSON, compared with an earlier one

`doors` and `as_tests` have the ways in from Python, `command_line` the other, and `settings` what
both can ask: in words (`options`), or written in a repository (`repository`), where `several`
targets may be.
A `campaign` judges with many seeds, and what broke a clause is `remembered`.
What differs from kind to kind is asked of `spec.kind.Kind`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spec.certification.as_tests import parametrize_with_clauses
    from spec.certification.doors import certify, rerun

__all__ = ["certify", "parametrize_with_clauses", "rerun"]


def __getattr__(name: str) -> Any:
    """The doors, opened when they are used: the first process is started before all else."""
    if name in __all__:
        module = ".as_tests" if name == "parametrize_with_clauses" else ".doors"
        return getattr(import_module(module, __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
