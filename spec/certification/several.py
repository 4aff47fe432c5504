"""Several targets, one after another: the reports of those that fail, and a table of all."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from spec.backends import Unsuitable
from spec.certification.attended import certified
from spec.certification.ledger.text import in_a_row, save_report
from spec.certification.results import Results
from spec.certification.settings import Request

GRAVITY = (0, 3, 1, 2)  # exit codes, the worst last
HEAD = ("target", "verdict", "holds", "violated", "should", "seconds")


def judged(requests: Mapping[str, Request], folder: Path | None, results: Results) -> int:
    """Print the results of each request, and return the worst exit code of a single one.

    folder: each report goes to a subfolder with its name. results: takes all of them.
    """
    rows: list[tuple[str, ...]] = [HEAD]
    codes = [0]
    try:
        for name, request in requests.items():
            code, row = _judged(name, request, folder, results)
            rows.append(row)
            codes.append(code)
    finally:  # whoever interrupts sees what was done by then
        print(table(rows))
    return max(codes, key=GRAVITY.index)


def _judged(
    name: str, request: Request, folder: Path | None, results: Results
) -> tuple[int, tuple[str, ...]]:
    """The exit code of one request, and its row, after its report is printed."""
    try:
        with results.of(name):
            certificate = certified(request, sys.stderr)
    except Unsuitable as reason:
        return 2, (name, f"error: {reason}")
    results.found[name] = certificate
    if folder is not None:
        save_report(certificate, folder / name)
    if not certificate.passed:
        print(certificate, flush=True)
    return certificate.exit_code, (name, *in_a_row(certificate))


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Words at the left and figures at the right; a long cell has the rest of the line."""
    figured = [row for row in rows if len(row) == len(rows[0])]
    name = max(len(row[0]) for row in rows)
    words = max(len(row[1]) for row in figured)
    widths = [max(len(row[i]) for row in figured) for i in range(2, len(rows[0]))]
    lines = []
    for first, verdict, *figures in rows:
        right = [f"{x:>{width}}" for x, width in zip(figures, widths, strict=False)]
        lines.append("  ".join([f"{first:<{name}}", f"{verdict:<{words}}", *right]).rstrip())
    return "\n".join(lines)
