"""Certificates in the words of GitHub Actions: annotations of a run, and a table for its summary.

The workflow commands are those of docs.github.com, "Workflow commands for GitHub Actions". A
target chooses some of the words in them, so all that could end a command, or begin another one, is
escaped.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.advice import hints
from spec.certification.ledger.causes import ranges, remedy
from spec.certification.ledger.findings import Findings, blocks, grouped
from spec.certification.ledger.outcomes import applying
from spec.certification.ledger.remarks import advice
from spec.certification.ledger.text import in_a_row, in_short

MOST = 10  # annotations of a kind that GitHub shows for a step
HEAD = ("target", "verdict", "passes", "fails", "recommended only", "seconds")
ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
OF_PROPERTIES = {**ESCAPED, ":": "%3A", ",": "%2C"}
OF_CELLS = {"&": "&amp;", "<": "&lt;", "|": "\\|", "`": "\\`", "\n": " ", "\r": " "}
Result = Findings | Exception  # of a target; why there is none


def annotations(name: str, result: Result) -> Iterator[str]:
    """A line for each annotation: of causes, of recommended clauses that fail, of the verdict."""
    if not isinstance(result, Findings):
        yield command("error", str(result), title=f"{name}: error")
        return
    place = _place(result.source)
    errors = [*_errors(name, result)]
    for title, message in errors[:MOST]:
        yield command("error", message, **place, title=title)
    warnings = [*_warnings(name, result)]
    for title, message in warnings[:MOST]:
        yield command("warning", message, **place, title=title)
    left = sum(max(0, len(x) - MOST) for x in (errors, warnings))
    more = f"; {left} more in the log" if left else ""
    title = f"{name}: {in_short(result)}"
    yield command("notice", f"clauses: {applying(result)}{more}", **place, title=title)


def _errors(name: str, certificate: Findings) -> Iterator[tuple[str, str]]:
    """A title and a message for each cause, and for each clause that fails for none."""
    for cause in certificate.causes:
        title = f"{name}: fails {ranges(cause.clauses)} [{', '.join(cause.dtypes)}]"
        example = cause.counterexample.message if cause.counterexample else ""
        lines = (cause.told, remedy(cause), *hints(certificate, cause), example)
        yield title, "\n".join(line for line in lines if line)
    unexplained = [v for v in certificate.verdicts if blocks(v) and not v.causes]
    looks = advice(certificate).splitlines()
    for title, message in _by_clause(f"{name}: fails", unexplained):
        yield title, "\n".join([message, *looks])
    crashed = [v for v in certificate.verdicts if v.outcome == "crashed"]
    for message, numbers in grouped((v.message, v.clause) for v in crashed).items():
        yield f"{name}: crashed in {ranges([*dict.fromkeys(numbers)])}", message


def _warnings(name: str, certificate: Findings) -> Iterator[tuple[str, str]]:
    """The same for each recommended clause that fails."""
    soft = [v for v in certificate.failures if not blocks(v)]
    return _by_clause(f"{name}: recommended clause fails:", soft)


def _by_clause(head: str, verdicts: list[Verdict]) -> Iterator[tuple[str, str]]:
    """A title for each clause, with its dtypes, and the message of the first one."""
    for number, found in grouped((v.clause, v) for v in verdicts).items():
        dtypes = ", ".join(v.dtype for v in found)
        example = found[0].counterexample  # the smallest one, of what ended a run
        message = example.message if example else found[0].message
        yield f"{head} {number} {found[0].name} [{dtypes}]", message


def command(word: str, message: str, **properties: str) -> str:
    """A workflow command, with what could end it, or its properties, escaped."""
    told = ",".join(f"{x}={_escaped(y, OF_PROPERTIES)}" for x, y in properties.items())
    return f"::{word} {told}::{_escaped(message, ESCAPED)}"


def _escaped(text: str, characters: Mapping[str, str]) -> str:
    return "".join(characters.get(x, x) for x in text)


def _place(source: str) -> dict[str, str]:
    """The file and line of a target, if the repository has the file: relative to its root."""
    file, _, line = source.rpartition(":")
    path = Path(os.path.abspath(file))
    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    if not (file and path.is_file() and path.is_relative_to(root)):
        return {}
    return {"file": path.relative_to(root).as_posix(), "line": line}


def summary(results: Mapping[str, Result]) -> str:
    """A table in Markdown, with a row for each target."""
    rows = [HEAD, ("---",) * len(HEAD), *(_row(name, x) for name, x in results.items())]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _row(name: str, result: Result) -> tuple[str, ...]:
    if not isinstance(result, Findings):
        words = [name, f"error: {result}", *[""] * (len(HEAD) - 2)]
    else:
        words = [name, *in_a_row(result)]
    return tuple(_escaped(word, OF_CELLS) for word in words)
