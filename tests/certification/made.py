"""Verdicts and certificates as they would be written, of targets that nobody judged."""

from dataclasses import replace
from typing import Any

from spec import CLAUSES
from spec.certification.diagnosing.diagnosis import Diagnosis
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import Outcome, Verdict, unrun
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.certificate import certificate as written
from spec.certification.settings import Request

PUT = ("holds", "violated", "deviates")  # what comes of a clause that problems were put to


def verdict(number: str, outcome: Outcome, dtype: str = "float32", **fields: Any) -> Verdict:
    """What was found out about a clause."""
    found = unrun(CLAUSES[number], dtype, outcome, fields.pop("message", ""))
    return replace(found, **{"examples": 4 * (outcome in PUT), **fields})


def certificate(
    *verdicts: Verdict,
    request: Request | None = None,
    diagnosis: Diagnosis | None = None,
    **surveyed: Any,
) -> Certificate:
    """The certificate of verdicts about attention. surveyed: fields of the survey."""
    order = tuple(dict.fromkeys(x.clause for x in verdicts))
    fields = {"name": "mine", "about": "attention", "definition": "A1", "conventions": {}}
    fields |= {"order": order, "items": (), "command": "", "versions": {}, **surveyed}
    asked = request or Request("mine.py:attend", profile="quick")
    found = diagnosis or Diagnosis()
    return written(asked, Survey(**fields), verdicts, {"total": 1.0}, found)
