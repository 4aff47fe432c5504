"""Certificates as a JUnit XML file, which CI servers read: a test for each clause and dtype.

A clause that blocks a certificate is a `failure`, a crash an `error`. Others that do not pass are
`skipped`, with the reason: recommended clauses that fail, declared deviations, and everything that
was not tested.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from spec.certification.judging.cause import Cause
from spec.certification.judging.edition import OURS, THEIRS
from spec.certification.judging.verdict import Counterexample, Verdict
from spec.certification.ledger.advice import hints
from spec.certification.ledger.causes import remedy
from spec.certification.ledger.findings import Findings
from spec.certification.ledger.outcomes import outcome
from spec.certification.ledger.remarks import advice
from spec.certification.ledger.text import in_short
from spec.certification.ledger.untested import why_untested
from spec.clause import section_of
from spec.kinds import kind_of
from spec.printable import printable

COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}
SKIPPED = {  # outcome -> what comes before its message
    "violated should": "recommended only: ",
    "violated promise": "equal bits are not promised: ",
    "deviates": "declared deviation: ",
    "refused": "raises an exception: ",
    "blocked": "not run: ",
}
OWN = "Smallest problem of this clause:"
Result = Findings | Exception  # of a target; why there is none


def junit(results: Mapping[str, Result]) -> str:
    """The file, with a testsuite for each target. results: by the name of the target."""
    root = Element("testsuites", name="attention-spec")
    root.extend(_suite(name, result) for name, result in results.items())
    suites = [*root]
    for counted in ("tests", *COUNTED.values()):
        root.set(counted, str(sum(int(suite.get(counted, 0)) for suite in suites)))
    root.set("time", f"{sum(float(suite.get('time', 0)) for suite in suites):.3f}")
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite(name: str, result: Result) -> Element:
    """The tests of one target, or the error if there are none."""
    suite = Element("testsuite", name=_legal(name))
    if isinstance(result, Findings):
        suite.append(_properties(result))
        suite.extend(_case(name, verdict, result) for verdict in result.verdicts)
        suite.extend(_lost(name, result))
        seconds = result.timings["total"]
    else:
        case = SubElement(suite, "testcase", classname=_legal(name), name="the target is usable")
        SubElement(case, "error", message=_legal(str(result)), type=type(result).__name__)
        seconds = 0.0
    suite.set("tests", str(len(suite.findall("testcase"))))
    for tag, counted in COUNTED.items():
        suite.set(counted, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", f"{seconds:.3f}")
    return suite


def _properties(certificate: Findings) -> Element:
    """The facts about the whole certificate: target, conventions, versions, verdict."""
    said = {
        "verdict": in_short(certificate),
        "exit code": str(certificate.exit_code),
        "specification": certificate.specification,
        "hash of the specification": certificate.versions.get(OURS, ""),
        "hash of the target": certificate.versions.get(THEIRS, ""),
        "conventions": ", ".join(f"{n}={x}" for n, x in certificate.conventions.items()),
        "profile": certificate.profile,
        "seed": str(certificate.seed),
        "source": certificate.source,
        "repeat": certificate.command,
    }
    found = Element("properties")
    for name, value in said.items():
        SubElement(found, "property", name=name, value=_legal(value))
    return found


def _case(name: str, verdict: Verdict, certificate: Findings) -> Element:
    """The test of one clause in one dtype."""
    section = section_of(verdict.clause)
    word = kind_of(certificate.about).sections.get(section, section)
    case = Element("testcase", classname=_legal(f"{name}.{word}"))
    case.set("name", _legal(f"{verdict.clause} {verdict.name} [{verdict.dtype}]"))
    file, _, line = certificate.source.rpartition(":")
    if file:
        case.set("file", _legal(file))
        case.set("line", line)
    if verdict.seconds:
        case.set("time", f"{sum(verdict.seconds.values()):.3f}")
    case.extend(_came(verdict, certificate))
    return case


def _came(verdict: Verdict, certificate: Findings) -> Iterator[Element]:
    """Yield the result of a test, unless it passed."""
    found = outcome(verdict)
    if found == "not offered":
        yield Element("skipped", message=_legal(why_untested(verdict.message)))
    elif found in SKIPPED:
        yield Element("skipped", message=_legal(f"{SKIPPED[found]}{verdict.message}"))
    elif found == "crashed":
        message = "; ".join([verdict.message, *_explained(verdict, certificate)])
        yield Element("error", message=_legal(message), type=found)
    elif found == "violated":
        message, text = failure(verdict, certificate)
        element = Element("failure", message=_legal(message), type=found)
        element.text = _legal(text)
        yield element


def failure(verdict: Verdict, certificate: Findings) -> tuple[str, str]:
    """Why a clause fails, in a line, and the rest: its first failure and the smallest example.

    The example is that of its first cause, if one is known, and says so. Where no cause is known,
    the line has the first failure, and what the target looks like.
    """
    example, whose = verdict.counterexample, OWN
    if verdict.causes:
        place = verdict.causes[0]
        whose = f"Smallest problem of cause {place + 1}, which other clauses may share:"
    return why(verdict, certificate), "\n".join([verdict.message, *_example(example, whose)])


def why(verdict: Verdict, certificate: Findings) -> str:
    """Why a clause fails, in a line."""
    said = [*_explained(verdict, certificate)]
    return "; ".join(said or [verdict.message, *advice(certificate).splitlines()])


def _explained(verdict: Verdict, certificate: Findings) -> Iterator[str]:
    """The causes of a failure."""
    for cause in (certificate.causes[place] for place in verdict.causes):
        yield from in_words(cause)
        yield from hints(certificate, cause)


def retold(path: str, told: Mapping[str, str], mark: str, own: str) -> None:
    """Write why tests fail to a file that pytest has written, and the counterexample of each.

    told: why, in a line, by the value of the property `mark` of a test. own: the property with the
    counterexample. Both are then taken out.
    """
    path = os.path.expanduser(os.path.expandvars(path))
    tree = ElementTree.parse(path)
    for case in tree.iter("testcase"):
        for properties in case.findall("properties"):
            ours = {x.get("name"): x for x in properties if x.get("name") in (mark, own)}
            said = {name: x.get("value", "") for name, x in ours.items()}
            if message := told.get(said.get(mark, "")):
                for element in case.findall("failure"):
                    element.set("message", _legal(message))
                    element.text = _legal(said.get(own, ""))
            for one in [x for x in properties if x.get("name") in (mark, own)]:
                properties.remove(one)
            if not len(properties):
                case.remove(properties)
    tree.write(path, encoding="utf-8", xml_declaration=True)


def in_words(cause: Cause) -> Iterator[str]:
    """Yield the failure and its condition, then its correction or its likely bugs."""
    yield cause.told
    if fix := remedy(cause):
        yield fix


def _example(example: Counterexample | None, whose: str) -> Sequence[str]:
    """The smallest example in words, what it looks like, and its script."""
    if example is None:
        return ()
    looks = [f"looks like: {line}" for line in example.looks_like]
    return [x for x in (whose, example.message, *looks, example.script) if x]


def _lost(name: str, certificate: Findings) -> Iterator[Element]:
    """A test for each kind of problem that crashed the target before any clause was run."""
    for refusal in certificate.refusals:
        if refusal.crashed:
            what = f"{refusal.what}, {refusal.direction} [{refusal.dtype}]"
            case = Element("testcase", classname=_legal(f"{name}.probing"), name=_legal(what))
            SubElement(case, "error", message=_legal(refusal.message), type="crashed")
            yield case


@cache
def _legal(text: str) -> str:
    """The text without characters that XML 1.0 does not allow."""
    return printable(text, "\n")
