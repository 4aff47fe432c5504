"""What a notebook shows of a certificate: `_repr_html_`, which needs no other package."""

import re
import subprocess
import sys
from html.parser import HTMLParser

from spec import certify
from spec.certification.diagnosing.diagnosis import Diagnosis
from spec.certification.judging.cause import Cause
from tests import targets
from tests.certification.made import certificate, verdict
from tests.shell import environment

FEW = {"profile": "quick", "dtypes": ("float32",)}


class Read(HTMLParser):
    """The tags of a page, each closed in its turn, and its text by lines."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.lines = [], [], [""]
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        self.lines += [""] * (tag in ("div", "li", "summary", "pre"))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.lines[-1] += data


def read(found):
    return Read(found._repr_html_())


def test_a_cause_is_shown_with_its_smallest_example():
    page = read(certify(targets.elementwise, **FEW, clauses="A2"))
    lines = [line for line in page.lines if line]
    assert lines[0] == "elementwise: not certified, for 1 cause"
    assert lines[1] == "clauses: 2 of 2 apply: 1 passes, 1 fails"
    assert lines[2].startswith("target: tests/targets/__init__.py:")
    assert lines[3].startswith("looks like: Uses a (1 - a) as the derivative of the softmax")
    assert re.fullmatch(r"dq and dk are wrong in \d+ of \d+ problems with M > 1", lines[4])
    assert lines[5] == "fails 1 clause: A2 [float32]"
    assert lines[6].startswith("at (0, 0, 0, 0): got 0, want -0.25")
    assert "import numpy as np" in lines[7]
    assert {tag for tag, _ in page.tags} == {
        *("div", "strong", "ol", "li", "details", "summary", "pre", "small")
    }


def test_what_is_certified_is_a_few_lines():
    page = read(certify(targets.right, **FEW, clauses="A1"))
    assert [x for x in page.lines if x][:2] == [
        "right: certified (quick)",
        "clauses: 1 of 1 applies: 1 passes",
    ]
    assert ("strong", {"style": "color: #1a7f37"}) in page.tags
    assert len(page.lines) < 8


def test_failures_without_a_cause_are_shown_but_not_all():
    numbers = ("A1", "A2", "A3", "A4", "S1", "S2", "S3")
    page = read(certificate(*(verdict(n, "violated", message="why") for n in numbers)))
    items = [line for line in page.lines if line.endswith(": why")]
    assert items[0] == "A1 output_matches_definition [float32]: why"
    assert len(items) == 5
    assert "and 2 more" in page.lines


def test_every_word_of_a_target_is_escaped():
    hostile = '<script>alert("1")</script>&lt;\x1b'
    cause = Cause((hostile,), "", hostile, lens=hostile, clauses=("A1",), dtypes=("float32",))
    found = certificate(
        *(verdict(n, "violated", message=hostile) for n in ("A1", "A2")),
        name=hostile,
        source=hostile,
        advice=(hostile,),
        diagnosis=Diagnosis(causes=(cause,), met={("A1", "float32"): (0,)}),
    )
    page = read(found)
    assert "script" not in {tag for tag, _ in page.tags}
    shown = hostile.replace("\x1b", "\\x1b")
    assert sum(shown in line for line in page.lines) >= 5


def test_no_package_for_pages_is_imported():
    program = (
        "import sys; sys.modules['jinja2'] = sys.modules['IPython'] = None\n"
        "from tests.certification.made import certificate, verdict\n"
        "print(certificate(verdict('A1', 'holds'))._repr_html_())"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, env=environment(sys.path)
    )
    assert "mine" in done.stdout
