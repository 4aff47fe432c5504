"""What the ledger recorded, for `attention-spec targets`: `python -m tests.recorded` writes it.

Left out are programs of this repository that are not installed.
"""

import json
import re
from collections.abc import Iterable
from configparser import ConfigParser
from dataclasses import replace
from pathlib import Path

from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.findings import blocks
from spec.certification.ledger.text import in_short
from spec.certification.ledgers import Entry, entries
from spec.certification.target.recorded import FILE

ROOT = Path(__file__).parent.parent
LEDGER = ROOT / "implementations" / "ledger"
HERE = ("implementations", "oracles")  # whose programs are not installed
OURS = "spec"
BEFORE = "certify "  # the options, in a command
CHOSEN = re.compile(r" ?--profile \S+ --seed \S+")  # which no row has


def rows(listed: Iterable[Entry]) -> list[dict[str, str]]:
    """A row for each entry of which something is recorded, by library and target."""
    found = [row(one) for one in listed if one.request.target.partition(".")[0] not in HERE]
    return sorted(found, key=lambda x: (x["library"].lower(), x["target"], x["options"]))


def row(one: Entry) -> dict[str, str]:
    """The fields of `spec.certification.target.recorded.Recorded`."""
    certificate, asked = one.recorded, one.request
    assert certificate is not None, f"{one.name}: nothing is recorded"
    name = asked.target.removeprefix(OURS) if asked.target.startswith(f"{OURS}.") else asked.target
    limits = dict.fromkeys(("budget", "call_timeout", "diagnosis_timeout"))
    plain = replace(asked, target="", description=None, isolate=False, fail_fast=False, **limits)
    options = CHOSEN.sub("", plain.command().partition(BEFORE)[2])
    region = certificate.region
    return {
        "target": name,
        "description": asked.description or "",
        "options": options.strip(),
        "library": one.library,
        "version": certificate.versions.get(one.library) or pinned(one),
        "kind": certificate.about,
        "verdict": in_short(replace(certificate, where="")) + alone(certificate),
        "region": region.sentence if region.passed and not certificate.passed else "",
    }


def alone(certificate: Certificate) -> str:
    """The only format in which clauses fail, if they pass in another one; else ""."""
    wrong = {v.dtype for v in certificate.failures if blocks(v)}
    wrong |= {v.dtype for v in certificate.verdicts if v.outcome in ("crashed", "blocked")}
    held = {v.dtype for v in certificate.verdicts if v.outcome == "holds"}
    return f", in {wrong.pop()} only" if len(wrong) == 1 and held - wrong else ""


def pinned(one: Entry) -> str:
    """The version in tox.ini, for a library that was not imported when versions were recorded."""
    settings = ConfigParser(interpolation=None)
    settings.read(ROOT / "tox.ini")
    section = settings[f"testenv:{one.file.parent.name}"]
    pins = f"{section.get('deps', '')} {section.get('commands_pre', '')}"
    found = re.search(rf"(?:^|\s){re.escape(one.library)}==(\S+)", pins)
    assert found, f"{one.name}: tox.ini has no version of {one.library}"
    return found[1]


def text(found: Iterable[dict[str, str]]) -> str:
    """The rows as they are written: a line for each."""
    return "[\n" + ",\n".join(json.dumps(x, ensure_ascii=False) for x in found) + "\n]\n"


if __name__ == "__main__":
    files = sorted(LEDGER.glob("*.toml"))
    FILE.write_text(text(rows(one for file in files for one in entries(str(file)))), "utf-8")
