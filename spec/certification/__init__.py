"""The engine: from a target to a certificate, in stages, for every kind of target.

    target        from a name to a record: loaded, probed, its conventions detected
    judging       problems are drawn, a clause is run on each, and the result is its verdict
    explaining    a failing problem is made smaller, and written as a script
    diagnosing    failures are explained: the causes, and the region outside of them
    isolation     all this in a child process, which may crash or hang, here or elsewhere
    ledger        verdicts as a certificate: as text, as JSON, compared with an earlier one

`doors` and `as_tests` are the interfaces in Python, `command_line` is the other one. `settings` has
what both can request: as options (`options`), or in pyproject.toml (`repository`), which may have
`several` targets. A `campaign` tests with many seeds, and failing problems are `remembered`. All
differences between kinds are in `spec.kind.Kind`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spec.certification.as_tests import parametrize_with_clauses
    from spec.certification.doors import certify, rerun
    from spec.certification.grader import grade

__all__ = ["certify", "grade", "parametrize_with_clauses", "rerun"]


def __getattr__(name: str) -> Any:
    """The doors, opened when they are used: the first process is started before all else."""
    if name in __all__:
        module = {"parametrize_with_clauses": ".as_tests", "grade": ".grader"}.get(name, ".doors")
        return getattr(import_module(module, __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
