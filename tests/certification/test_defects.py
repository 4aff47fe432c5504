"""A report names a defect of this package as its own, and not as a fault of the target."""

from tests.shell import FEW, run

BROKEN = """\
from tests.targets import elementwise as attend
from spec.certification.diagnosing.search import Search

def run(self, failing):
    raise AttributeError("no such axis")

Search.run = run
"""


def test_a_search_for_causes_that_fails_says_so(tmp_path):
    (tmp_path / "mine.py").write_text(BROKEN)
    done = run("certify", "mine.py:attend", *FEW, "--clause", "A2", cwd=tmp_path)
    assert done.returncode == 1
    assert "the search itself failed, not the target (AttributeError: no such axis" in done.stdout
    assert "in mine.py, line 5): please report it" in done.stdout
    assert "Traceback" not in done.stderr
