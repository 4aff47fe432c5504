"""The causes of a certificate as text: where it is wrong, where it is not, and what shows it."""

import re
import textwrap
from collections.abc import Iterator, Sequence

import numpy as np

from spec.certification.judging.cause import Cause, with_changes
from spec.certification.judging.verdict import Counterexample, Verdict
from spec.certification.ledger.advice import hints
from spec.certification.ledger.findings import Findings, grouped
from spec.clause import section_of
from spec.mistake import titles
from spec.notation import Array
from spec.printable import printable
from spec.written import arrays, options, sizes

WIDTH = 100
SHOWN = 3  # counterexamples that are printed where no cause is known
TALL = 7  # lines: an array that has more is written as a paragraph
LONG = 2500  # letters: a script that has more is not printed
NAMED = re.compile(r"(\w+) \((.*?)\): (.*)", re.DOTALL)  # a known bug, its source, its sentence
NOWHERE = "correct on none of the tested problems"
DECLARED = re.compile(r'--convention "?([\w-]+)=')
TYPED = re.compile(r'--\S+ (?:"[^"]*"|\S+)')  # on a command line


def causes(certificate: Findings) -> Iterator[str]:
    """All causes, and the region outside of them."""
    if certificate.causes:
        yield "\n".join(_causes(certificate))
        yield region(certificate)


def _causes(certificate: Findings) -> Iterator[str]:
    """A few lines for each cause."""
    for place, cause in enumerate(certificate.causes, start=1):
        change = remedy(cause) + otherwise(certificate, cause)
        first, *more = [x for x in (change, cause.told) if x]
        lines = [filled(f"{place}. ", first), *(filled("   ", line) for line in more)]
        lines += [filled("   ", x) for x in hints(certificate, cause)]
        lines += [filled("   but for that, wrong as ", cause.besides)] * bool(cause.besides)
        yield "\n".join([*lines, filled("   ", f"{failing(cause)}{_everywhere(cause)}")])


def _everywhere(cause: Cause) -> str:
    """On how many problems, where all are wrong; else the first sentence says of how many."""
    wrong, inside = cause.problems
    every = f"all {inside} problems" if inside > 1 else "the only problem there"
    return f"; on {every}" if wrong and wrong == inside else ""


def remedy(cause: Cause) -> str:
    """The change that corrects a cause, or else the known bugs that it looks like; or ""."""
    return cause.lens or likeness(cause)


def first(cause: Cause) -> str:
    """The line for a person who waits for all causes."""
    return printable("; ".join(filter(None, (f"first cause: {cause.told}", remedy(cause)))))


def otherwise(certificate: Findings, cause: Cause) -> str:
    """The choices that the specification expects, where conventions correct a cause."""
    chosen = certificate.conventions
    told = [f"{x}={chosen[x]}" for x in DECLARED.findall(cause.lens) if x in chosen]
    verb = "is" if len(told) == 1 else "are"
    return f"; otherwise {' and '.join(told)} {verb} expected" if told else ""


def failing(cause: Cause) -> str:
    """How many clauses fail for a cause, which, and in which dtypes."""
    count = len(cause.clauses)
    listed = f"{ranges(cause.clauses)} [{', '.join(cause.dtypes)}]"
    return f"fails {count} clause{'s' * (count != 1)}: {listed}"


def likeness(cause: Cause) -> str:
    """The known bugs that a cause looks like, the sentence of each before its name; or "".

    The title of a class stands before several of its bugs.
    """
    lines = (cause.counterexample and cause.counterexample.looks_like) or ()
    named = [NAMED.fullmatch(line) for line in lines]
    classes = {found[2].partition(" ")[0] for found in named if found}
    title = titles().get("".join(classes), "") if len(lines) > 1 else ""
    told = [_sentence(line, found, not title) for line, found in zip(lines, named, strict=True)]
    first = f"{title} ({classes.pop()} in spec/incidents.md): " if title else ""
    return f"looks like: {first}{'; or '.join(told)}" if told else ""


def _sentence(line: str, named: re.Match[str] | None, sourced: bool) -> str:
    """The sentence of a known bug before its name, and its source."""
    if named is None:
        return line
    return f"{named[3]} ({named[1]}{f', {named[2]}' * sourced})"


def region(certificate: Findings) -> str:
    """Where the target is correct: on the problems that no cause excludes."""
    left = [cause for cause in certificate.causes if not cause.lens]
    excluded = bool(left)
    nowhere = any(not cause.set and not cause.drawn for cause in left)
    asked = f" with {certificate.where}" if certificate.where else ""
    where = f"on all {'other ' * excluded}problems{asked}"
    found = NOWHERE if nowhere else _tested(certificate, where)
    return filled("", f"{with_changes(certificate.causes)}{found}")


def region_in_words(certificate: Findings) -> str:
    """The same for a reader who does not have the causes in view."""
    sentence = certificate.region.sentence
    return _correct(certificate, f"when {sentence}" if sentence else "on all problems")


def _correct(certificate: Findings, where: str) -> str:
    found = certificate.region
    nowhere = not found.sentence and not found.but
    return NOWHERE if nowhere else _tested(certificate, where)


def _tested(certificate: Findings, where: str) -> str:
    found = certificate.region
    if not found.passed:
        return f"correct {where}, as far as is known; not all of them were tested"
    held = {v.clause for v in certificate.verdicts if v.causes or (v.ran and v.outcome == "holds")}
    but = f", except {', '.join(found.but)}" if found.but else ""
    count = len(held - {*found.but})
    passing = f"all {count} clauses pass" if count > 1 else "the clause that was tested passes"
    return f"correct {where}: {passing} there{but}"


def counterexamples(certificate: Findings) -> Iterator[str]:
    """The counterexample of each cause; where none is known, of the first clauses that fail."""
    for place, cause in enumerate(certificate.causes, start=1):
        if cause.counterexample is not None:
            yield _of_cause(place, cause.counterexample)
    unexplained = [v for v in certificate.failures if not v.causes]
    shown = grouped((v.clause, v) for v in unexplained if v.counterexample)
    verdicts = [min(found, key=_size) for found in shown.values()]
    for verdict in verdicts[:SHOWN]:
        assert verdict.counterexample is not None
        yield _of_clause(
            f"{verdict.clause} {verdict.name}, {verdict.dtype}", verdict.counterexample
        )
    if len(verdicts) > SHOWN:
        others = ", ".join(verdict.clause for verdict in verdicts[SHOWN:])
        yield f"There are counterexamples for {others} as well: --json FILE or --report FOLDER."


def _size(verdict: Verdict) -> int:
    assert verdict.counterexample is not None
    return sum(x.size for x in arrays(verdict.counterexample.problem).values())


def _of_cause(place: int, example: Counterexample) -> str:
    """The failure, and a script that shows it alone."""
    text = [f"{place}. {example.message}", *(filled("   ", x) for x in example.apiece)]
    script = _body(example.script)
    if not script or len("\n".join(script)) > LONG:
        return "\n".join([*text, *_problem(example)])
    return "\n".join([*text, *(f"    {line}" for line in script)])


def _body(script: str) -> list[str]:
    """The lines of a script behind its docstring, those that say something."""
    lines = script.rpartition('\n"""\n')[2].splitlines()
    return [line for line in lines if line and not line.startswith("np.seterr")]


def ranges(numbers: Sequence[str]) -> str:
    """Numbers of clauses, those of a section that follow each other as S1-S5."""
    found: list[list[str]] = []
    for number in numbers:
        section = section_of(number)
        before = f"{section}{int(number[len(section) :]) - 1}"
        if found and found[-1][-1] == before:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in found)


def _of_clause(title: str, example: Counterexample) -> str:
    lines = [title, "-" * len(title), textwrap.fill(example.sentence, WIDTH)]
    if example.formula:
        lines += ["", textwrap.indent(example.formula, "    ")]
    return "\n".join([*lines, "", *_shown(example)])


def _shown(example: Counterexample) -> Iterator[str]:
    """Yield the failure, the problem, the likely bugs, and the script."""
    yield from (example.message, "", *_problem(example))
    if not example.reduced:
        yield "(there was no time to look for a smaller one)"
    yield from (f"looks like {line}" for line in example.looks_like)
    if example.script:
        yield from ("", "This repeats it:", "", textwrap.indent(example.script.rstrip(), "    "))


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
        yield f"{name:>{indent}} = {as_text(x, indent + 3)}"


def as_text(x: Array, indent: int) -> str:
    """An array behind so many letters: by rows, as long as these are few."""
    text = np.array2string(x, separator=", ", threshold=40, max_line_width=WIDTH - 10)
    if text.count("\n") >= TALL:
        text = textwrap.fill(" ".join(text.split()), WIDTH - indent)
    return textwrap.indent(text, " " * indent).strip()


def filled(head: str, text: str) -> str:
    """A paragraph behind a head; what is to be typed stays in one line."""
    indent = " " * len(head) or "    "
    text = TYPED.sub(lambda found: found[0].replace(" ", "\0"), text)
    lines = textwrap.TextWrapper(WIDTH, head, indent, break_on_hyphens=False)
    return lines.fill(text).replace("\0", " ")
