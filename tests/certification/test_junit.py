"""`certify --junit FILE`: what a CI server reads of one target, and of several."""

import os
import re
from xml.etree import ElementTree

import pytest

from spec import CLAUSES
from spec.certification.diagnosing.diagnosis import Diagnosis
from spec.certification.judging.cause import Cause
from spec.certification.judging.verdict import OUTCOMES
from spec.certification.ledger.junit import junit
from spec.certification.ledger.untested import why_untested
from spec.certification.target.probed import Refusal
from tests.certification.made import certificate, verdict
from tests.shell import FEW, certify, run

TARGETS = """\
[tool.attention-spec]
profile = "quick"
dtypes = ["float32"]

[tool.attention-spec.targets.right]
target = "mine.py:attend"
clauses = ["A1", "M8"]

[tool.attention-spec.targets.known]
target = "elementwise.py:attend"
clauses = ["A2"]
deviations = { A2 = "published so" }

[tool.attention-spec.targets.wrong]
target = "elementwise.py:attend"
clauses = ["A2", "M1"]

[tool.attention-spec.targets.broken]
target = "nowhere.py:attend"
"""
MINE = """\
from tests.targets import right

def attend(query, key, value, attn_mask=None, is_causal=False):
    return right(query, key, value, attn_mask, is_causal) + 0 * value.sum()
"""  # NaN in hidden positions spreads: that is a recommended clause
ELEMENTWISE = "from tests.targets import elementwise as attend\n"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The file that is written of all targets of a pyproject.toml."""
    folder = tmp_path_factory.mktemp("repository")
    for name, text in (("mine", MINE), ("elementwise", ELEMENTWISE)):
        (folder / f"{name}.py").write_text(text)
    (folder / "pyproject.toml").write_text(TARGETS)
    done = run("certify", "--junit", "out/junit.xml", cwd=folder)
    assert done.returncode == 2, done.stdout + done.stderr
    assert os.listdir(folder / "out") == ["junit.xml"]
    return ElementTree.parse(folder / "out" / "junit.xml").getroot()


def suite(root, name):
    return root.find(f"testsuite[@name='{name}']")


def case(root, name, number):
    return next(x for x in suite(root, name) if x.get("name", "").startswith(f"{number} "))


@pytest.mark.slow
def test_each_target_is_a_suite_and_the_numbers_add_up(told):
    assert [x.get("name") for x in told] == ["right", "known", "wrong", "broken"]
    for counted, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(told.get(counted)) == len(told.findall(f".//{tag}"))
        for one in told:
            assert int(one.get(counted)) == len(one.findall(f"testcase/{tag}"))
    assert int(told.get("tests")) == len(told.findall(".//testcase"))
    assert float(told.get("time")) > 0


@pytest.mark.slow
def test_a_suite_says_what_was_certified_and_how(told):
    for name, verdict_of_it in (
        ("right", "certified (quick)"),
        ("known", "certified (quick) but for 1 deviation"),
        ("wrong", "not certified, for 1 cause"),
    ):
        found = {x.get("name"): x.get("value") for x in suite(told, name).iter("property")}
        assert found["verdict"] == verdict_of_it
        assert found["specification"] == "2026.11"
        assert len(found["hash of the specification"]) == 16
        assert "causal=top-left" in found["conventions"].split(", ")
        assert found["repeat"].startswith("python -m ")


@pytest.mark.slow
def test_a_test_is_a_clause_in_a_format(told):
    found = case(told, "right", "A1")
    assert found.get("name") == "A1 output_matches_definition [float32]"
    assert found.get("classname") == "right.agreement"
    assert (found.get("file"), found.get("line")) == ("mine.py", "3")
    assert float(found.get("time")) > 0
    assert [*found] == []


@pytest.mark.slow
def test_a_failure_says_what_is_wrong_what_it_looks_like_and_how_to_repeat_it(told):
    (found,) = case(told, "wrong", "A2")
    assert found.tag == "failure"
    first, _, second = found.get("message").partition("; ")
    assert re.fullmatch(r"dq and dk are wrong in \d+ of \d+ problems with M > 1", first)
    assert second.startswith("looks like: Uses a (1 - a) as the derivative of the softmax")
    assert "\nimport numpy as np\n" in found.text
    assert found.text.index("at (0, 0, 0, 0)") < found.text.index("import numpy")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "number", "why"),
    [
        ("right", "M8", "recommended only: "),
        ("known", "A2", "declared deviation: declared: published so"),
        ("wrong", "M1", "not supported: a boolean mask"),
    ],
)
def test_what_blocks_nothing_is_skipped_with_the_reason(name, number, why, told):
    (found,) = case(told, name, number)
    assert found.tag == "skipped"
    assert found.get("message").startswith(why)


@pytest.mark.slow
def test_a_target_that_cannot_be_used_is_an_error(told):
    (found,) = suite(told, "broken")
    assert found.find("error").get("message") == "there is no file 'nowhere.py'"


@pytest.mark.slow
def test_a_failure_without_a_cause_has_its_own_message_and_script(tmp_path):
    file = tmp_path / "j.xml"
    done = certify("elementwise", "--clause", "K2", "--junit", str(file), "--fail-fast")
    assert done.returncode == 1
    root = ElementTree.parse(file).getroot()
    (failure,) = case(root, "tests.targets:elementwise", "K2")
    assert failure.get("message").startswith("at (")
    assert "\nimport numpy as np\n" in failure.text


def test_without_a_cause_it_says_what_the_target_looks_like_and_a_crash_has_its_cause():
    looks = "looks like the convention a=b: declare it with --convention a=b if it is meant"
    cause = Cause(("causal",), "", "dies", clauses=("A1",), dtypes=("float32",))
    diagnosis = Diagnosis((cause,), met={("A1", "float32"): (0,)})
    verdicts = (
        verdict("A1", "crashed", message="died of SIGSEGV"),
        verdict("V2", "violated", message="at (0, 0): got 1"),
    )
    text = junit({"x": certificate(*verdicts, diagnosis=diagnosis, advice=(looks,))})
    root = ElementTree.fromstring(text.encode())
    assert root.find(".//failure").get("message") == f"at (0, 0): got 1; {looks}"
    assert root.find(".//error").get("message") == "died of SIGSEGV; dies with causal"


def test_an_incomplete_certificate_is_written_too(tmp_path):
    file = tmp_path / "j.xml"
    done = certify("right", "--budget", "0.001", "--junit", str(file))
    assert done.returncode == 3
    root = ElementTree.parse(file).getroot()
    whys = {x.get("message") for x in root.iter("skipped")}
    assert whys
    assert all(why.startswith("not run: the budget of 0.001 s was spent") for why in whys)


def test_a_target_that_cannot_be_used_alone_is_an_error_and_exit_code_2(tmp_path):
    done = run("certify", "nowhere.py:f", *FEW, "--junit", str(tmp_path / "j.xml"))
    assert (done.returncode, done.stdout) == (2, "")
    root = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert root.get("errors") == root.get("tests") == "1"


@pytest.mark.parametrize("path", [f"{os.devnull}/c.xml", os.sep])
def test_a_file_that_cannot_be_written_is_one_line(path):
    done = certify("right", "--clause", "A1", "--junit", path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be written" in done.stderr


def test_every_outcome_is_told_and_every_word_is_legal():
    numbers = [*CLAUSES][: len(OUTCOMES)]
    hostile = "a\x00b\x1b[1m\ud800\ufffe<&\">'\r\n]]>"
    verdicts = [
        verdict(number, outcome, message=hostile)
        for number, outcome in zip(numbers, OUTCOMES, strict=True)
    ]
    lost = Refusal("takes masks", "float32", "forward", hostile, True)
    text = junit({hostile: certificate(*verdicts, name=hostile, refusals=(lost,))})
    (one,) = ElementTree.fromstring(text.encode())
    tags = [child.tag for x in one.iter("testcase") for child in x]
    assert tags == ["failure", *["skipped"] * 4, "error", "error"]
    shown = "a\\x00b\\x1b[1m\\ud800\\ufffe<&\">'\\r"
    assert one.get("name") == f"{shown}\n]]>"
    assert one.find(".//error").get("message") == f"{shown}\\n]]>"


def test_why_a_clause_was_not_tested_is_told_in_nouns():
    told = why_untested("takes a boolean mask; can be run as training runs it")
    assert told == "not supported: a boolean mask, being run as training runs it"
    assert why_untested("problems where causal") == "not tested: without problems where causal"
