"""A certificate in a notebook: its verdict, how many clauses apply, and each cause in short."""

from collections.abc import Iterator
from html import escape

from spec.certification.judging.cause import Cause
from spec.certification.judging.verdict import Counterexample
from spec.certification.ledger.causes import failing, remedy
from spec.certification.ledger.findings import Findings
from spec.certification.ledger.outcomes import applying
from spec.certification.ledger.text import in_short

COLOURS = {0: "#1a7f37", 1: "#cf222e", 3: "#9a6700"}  # of exit codes; on white and on black
SHOWN = 5  # failures without a cause that are shown
WHOLE = "print the certificate for the whole report"


def in_html(certificate: Findings) -> str:
    """The certificate as HTML that needs nothing else: no script, no style sheet."""
    colour = COLOURS[certificate.exit_code]
    title = _tag("strong", in_short(certificate), f'style="color: {colour}"')
    lines = [
        f"<div>{_tag('strong', certificate.name)}: {title}</div>",
        _tag("div", f"clauses: {applying(certificate)}"),
        *[_tag("div", f"target: {certificate.source}")] * bool(certificate.source),
        *[f"<ol>{''.join(map(_cause, certificate.causes))}</ol>"] * bool(certificate.causes),
        *_unexplained(certificate),
        *(_tag("div", line) for line in certificate.advice),
        f"<div><small>{WHOLE}</small></div>",
    ]
    return "".join(lines)


def _cause(cause: Cause) -> str:
    """The likely bug or correction, the failure, its clauses, and the smallest example."""
    first = [_tag("div", line) for line in (remedy(cause), cause.told) if line]
    first.append(_tag("div", failing(cause)))
    return f"<li>{''.join([*first, _example(cause.counterexample)])}</li>"


def _example(example: Counterexample | None) -> str:
    """Its message, and its script to open."""
    if example is None:
        return ""
    if not example.script:
        return _tag("div", example.message)
    script = _tag("pre", example.script.strip())
    return f"<details>{_tag('summary', example.message)}{script}</details>"


def _unexplained(certificate: Findings) -> Iterator[str]:
    """The first clauses that fail for no known cause."""
    found = [v for v in certificate.failures if not v.causes]
    items = [
        f"<li>{_tag('div', f'{v.clause} {v.name} [{v.dtype}]{soft}: {v.message}')}"
        f"{_example(v.counterexample)}</li>"
        for v in found[:SHOWN]
        for soft in [" (should)" * (v.force == "should")]
    ]
    if items:
        more = f"<li>and {len(found) - SHOWN} more</li>" if len(found) > SHOWN else ""
        yield f"<ul>{''.join(items)}{more}</ul>"


def _tag(name: str, text: str, attribute: str = "") -> str:
    return f"<{f'{name} {attribute}'.strip()}>{escape(text)}</{name}>"
