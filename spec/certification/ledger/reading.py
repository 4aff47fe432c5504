"""Saved certificates: whole, as `certify --json` writes them, or in short."""

import json
import os
from pathlib import Path

from spec.backends import Unsuitable
from spec.backends.library import first_line
from spec.certification.judging.cause import Cause, Region
from spec.certification.judging.verdict import verdict_from_json
from spec.certification.ledger.brief import in_full
from spec.certification.ledger.certificate import Certificate, with_example
from spec.certification.ledger.findings import FORMAT
from spec.certification.settings import Request
from spec.certification.target.loading import resolved
from spec.certification.target.probed import Refusal
from spec.kinds import kind_of
from spec.typed import typed


class OtherFormat(ValueError):
    """The certificate was written by a later version of this package."""


class NoCertificate(Unsuitable):
    """The file is no certificate: it has no verdicts."""


def read(path: str | os.PathLike[str]) -> Certificate:
    """The certificate in the file `path`. Raises Unsuitable if there is none."""
    try:
        return loaded(path)
    except NoCertificate:
        raise
    except OSError as error:
        raise Unsuitable(f"{path} cannot be read: {error.strerror}") from None
    except OtherFormat as error:
        raise Unsuitable(f"{path}: {error}") from None
    except Exception as error:  # whatever comes of what somebody else wrote
        why = first_line(error) if isinstance(error, ValueError) else type(error).__name__
        raise Unsuitable(f"{path} is no certificate: {why}") from None


def loaded(path: str | os.PathLike[str]) -> Certificate:
    """The certificate in the file `path`. Raises OtherFormat, and others if there is none."""
    fields = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(fields, dict) or fields.keys().isdisjoint(("verdicts", "outcomes")):
        raise NoCertificate(f"{path} is no certificate: it has no verdicts")
    if (form := fields.pop("format", FORMAT)) != FORMAT:  # older ones say none
        raise OtherFormat(f"format {form!r}, this version reads {FORMAT}")
    if "outcomes" in fields:
        return typed(in_full(fields, resolved(Request.specification)))
    del fields["passed"], fields["ledger"]
    fields.pop("promises", None)  # older ones have none
    kind = kind_of(fields["about"])
    if "definition" not in fields:  # it was saved before certificates said so themselves
        fields |= {"definition": kind.definition, "defaults": kind.truth().defaults}
    if "causes" in fields:  # it was saved since causes are looked for
        fields["region"] = Region.from_json(fields["region"])
    causes = tuple(Cause.from_json(cause) for cause in fields.get("causes", ()))
    verdicts = [verdict_from_json(verdict) for verdict in fields["verdicts"]]
    fields["verdicts"] = tuple(with_example(verdict, causes) for verdict in verdicts)
    fields["refusals"] = tuple(Refusal(**refusal) for refusal in fields["refusals"])
    for name in ("notes", "advice"):
        fields[name] = tuple(fields[name])
    return typed(Certificate(**fields | {"causes": causes}))
