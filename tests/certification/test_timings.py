"""The time that is printed adds up to what all processes were at work."""

import json
import re

import pytest

from spec import certify
from spec.certification.judging.judging import PARTS
from tests import shell, targets
from tests.night import deep


@pytest.mark.parametrize("clauses", [("A1", "A2"), deep(None)])
def test_what_was_spent_in_this_process_adds_up(clauses):
    options = {"profile": "quick", "dtypes": "float32", "clauses": clauses}
    spent = {**certify(targets.elementwise, **options, fail_fast=clauses is not None).timings}
    total = spent.pop("total")
    assert sum(spent.values()) == pytest.approx(total)
    assert {*spent} == {*PARTS}
    assert min(spent.values()) > 0


@pytest.mark.parametrize(
    "words", [("--clause", "A1,A2", *shell.NO_CAUSES), deep(("--clause", "A,K"))]
)
def test_what_processes_spent_is_told_by_part_and_adds_up(words, tmp_path):
    file = tmp_path / "c.json"
    done = shell.certify("elementwise", *words, "--json", str(file))
    spent = json.loads(file.read_text())["timings"]
    total = spent.pop("total")
    (line,) = re.findall(r"^time .*(?:\n  .*)*", done.stdout, re.MULTILINE)
    together, *parts = map(float, re.findall(r" (\d+\.\d)(?=[:,]|$)", line))
    assert together == pytest.approx(sum(spent.values()), abs=0.05)
    assert parts == pytest.approx([spent[part] for part in PARTS], abs=0.05)
    assert all(words in " ".join(line.split()) for words in PARTS.values())
    assert min(spent.values()) > 0
    # One process after the other, or two at a time. How much less depends on who else is at work.
    assert sum(spent.values()) < 2 * total
