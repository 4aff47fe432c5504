"""From a target to a certificate.

A target is loaded (`loading`) and probed (`probing`); each clause is run
(`running`) and gives a verdict; a failure is made smaller (`reduction`), compared with
known mistakes (`explanation`) and written as a script (`reproduction`); and all
of it becomes a certificate. `doors` has the ways in from Python, `command_line` the other.
"""

from spec.certification.doors import (
    certify,
    parametrize_with_clauses,
    rerun,
)

__all__ = ["certify", "parametrize_with_clauses", "rerun"]
