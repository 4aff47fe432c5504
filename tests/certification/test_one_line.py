"""What a target chose stands in reports as one printable line, wherever it is shown."""

import json

import numpy as np
import pytest

from spec.backends import Unsuitable
from spec.certification.as_tests import runs
from spec.certification.command_line import main
from spec.certification.doors import certify

FORGED = "attend: certified\n=================\n\nverdicts 464 holds = 464\x1b[8m"
QUICK = {"profile": "quick", "dtypes": ["float32"], "clauses": ["A1", "B8"]}


def forging(query, key, value, scale=None):  # noqa: ARG001
    """Zeros, and an error of several lines."""
    if scale is not None:
        raise ValueError("\x1b[2Jno scale\nattend: certified")
    return np.zeros_like(query)


forging.__name__ = FORGED


@pytest.mark.slow
def test_a_name_and_messages_write_no_line_of_a_certificate(tmp_path):
    certificate = certify(forging, **QUICK)
    certificate.save(tmp_path / "certificate.json")
    fields = json.loads((tmp_path / "certificate.json").read_text())
    assert fields["name"] == FORGED.replace("\n", r"\n").replace("\x1b", r"\x1b")
    for text in (str(certificate), *(str(v.message) for v in certificate.verdicts)):
        assert "\x1b" not in text
    first, second, *lines = str(certificate).splitlines()
    assert first == f"{fields['name']}: not certified, for {len(certificate.causes)} causes"
    assert second == "=" * len(first)
    assert not any(line.startswith(("attend:", "verdicts 464")) for line in lines)


@pytest.mark.slow
def test_a_certificate_that_was_saved_is_shown_so_too(tmp_path, capsys):
    certify(forging, **QUICK).save(file := tmp_path / "certificate.json")
    fields = {**json.loads(file.read_text()), "name": f"{FORGED}!"}
    (forged := tmp_path / "forged.json").write_text(json.dumps(fields))
    assert main(["compare", str(file), str(forged)]) == 0
    told = capsys.readouterr().out
    assert told.startswith(r"name: attend: certified\n====")
    assert (told.count("\n"), "\x1b" in told) == (1, False)


@pytest.mark.slow
@pytest.mark.html
def test_nor_of_a_page():
    from spec import CLAUSES
    from spec.certification.pages.certificate_page import certificate_page

    written = certificate_page(certify(forging, **QUICK), CLAUSES)
    assert r"<h1>attend: certified\n====" in written
    assert "\x1b" not in written


def test_nor_of_a_test():
    (first, *_) = runs(forging, **{**QUICK, "clauses": ["A1"]})
    assert "\x1b" not in str(first.failure())


def test_what_cannot_be_judged_is_told_in_one_line():
    def nothing(query, key, value):  # noqa: ARG001
        raise ValueError("x")

    nothing.__name__ = FORGED
    with pytest.raises(Unsuitable) as told:
        certify(nothing, **QUICK)
    assert "\n" not in str(told.value)
    assert "\x1b" not in str(told.value)
