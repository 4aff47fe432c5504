"""The counterexamples of a certificate as text: the first in full, the others by number."""

import textwrap
from collections.abc import Iterator

import numpy as np

from spec.certification.judging.verdict import Counterexample, Verdict
from spec.certification.ledger.certificate import Certificate, grouped
from spec.notation import Array
from spec.written import arrays, options, sizes

WIDTH = 100
SHOWN = 3  # counterexamples printed in full


def counterexamples(certificate: Certificate) -> Iterator[str]:
    """The first failures in full: one for each clause, the smallest."""
    shown = grouped((v.clause, v) for v in certificate.failures if v.counterexample)
    verdicts = [min(found, key=_size) for found in shown.values()]
    for verdict in verdicts[:SHOWN]:
        yield _counterexample(verdict)
    if len(verdicts) > SHOWN:
        others = ", ".join(verdict.clause for verdict in verdicts[SHOWN:])
        yield f"There are counterexamples for {others} as well: --json FILE or --report FOLDER."


def _size(verdict: Verdict) -> int:
    assert verdict.counterexample is not None
    return sum(x.size for x in arrays(verdict.counterexample.problem).values())


def _counterexample(verdict: Verdict) -> str:
    example = verdict.counterexample
    assert example is not None
    title = f"{verdict.clause} {verdict.name}, {verdict.dtype}"
    lines = [title, "-" * len(title)]
    lines.append(textwrap.fill(example.sentence, WIDTH))
    if example.formula:
        lines += ["", textwrap.indent(example.formula, "    ")]
    lines += ["", example.message, "", *_problem(example)]
    if not example.reduced:
        lines.append("(there was no time to look for a smaller one)")
    lines += [f"looks like {line}" for line in example.looks_like]
    if example.script:
        lines += ["", "This repeats it:", "", textwrap.indent(example.script.rstrip(), "    ")]
    return "\n".join(lines)


def _problem(example: Counterexample) -> Iterator[str]:
    p = example.problem
    lengths = " ".join(f"{name}={x}" for name, x in sizes(p).items())
    memory = f", {p.memory} memory" if hasattr(p, "memory") else ""
    yield f"{lengths}, {p.dtype}{memory}"
    asked = [f"{name}={value}" for name, value in options(p).items()]
    if asked:
        yield ", ".join(asked)
    named = arrays(p)
    indent = max(4, *map(len, named))
    for name, x in named.items():
        yield f"{name:>{indent}} = {_array(x, indent + 3)}"


def _array(x: Array, indent: int) -> str:
    text = np.array2string(x, separator=", ", threshold=40, max_line_width=WIDTH - 10)
    return textwrap.indent(text, " " * indent).strip()
