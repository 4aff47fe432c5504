"""The JUnit file that pytest writes: each failing clause has its cause, and what corrects it."""

import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, parse

import pytest

from tests.certification.test_plugin_explains import FEW, KERNEL, TESTS, pytest_of

COUNT = re.compile(r" in \d+ of \d+ problems")
ALIGNED = "the output is wrong with causal and N != M; correct under the convention causal="
IN_PYTHON = 'bottom-right: declare it with conventions={"causal": "bottom-right"} if it is meant'
TYPED = "bottom-right: declare it with --convention causal=bottom-right if it is meant"
XDIST = ("-p", "xdist", "-n", "2")


def failures(folder: Path, *words: str, **given: Any) -> tuple[list[str], list[Element]]:
    """What pytest prints, and the failures in the file that it writes."""
    (folder / "test_it.py").write_text(TESTS.format(target="attend", right=True))
    lines = pytest_of(folder, *words, "--junitxml", "found.xml", **given)
    suite = parse(folder / "found.xml").getroot()[0]
    assert not suite.findall(".//property")
    found = suite.findall(".//failure")
    assert len(found) == int(suite.get("failures", 0)) > 0
    return lines, found


def messages(found: list[Element]) -> set[str]:
    """What the failures say, without how many problems are wrong."""
    return {COUNT.sub("", element.get("message") or "") for element in found}


def test_each_failure_has_the_convention_that_corrects_it(tmp_path: Path) -> None:
    _, found = failures(tmp_path)
    assert messages(found) == {ALIGNED + IN_PYTHON}
    for element in found:
        assert "Examiner(" not in (element.text or "")


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--implementation", "kernel.py:attend", *FEW)])
def test_each_failure_has_the_counterexample_of_its_own_clause(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    _, found = failures(tmp_path, *words)
    assert len({element.text for element in found}) == len(found) > 1
    for element in found:
        first, second, *more = (element.text or "").splitlines()
        title = re.fullmatch(r"([A-Z]\d+) (\w+), float64: .*", first)
        assert title, first
        assert second == "Smallest problem of this clause:"
        assert more[1].startswith(f'"""{title[1]}-{title[2]} in float64: ')
        assert "from kernel import attend" in more


@pytest.mark.slow
def test_on_the_command_line_it_has_the_option(tmp_path: Path) -> None:
    _, found = failures(tmp_path, "--implementation", "kernel.py:attend", *FEW)
    assert messages(found) == {ALIGNED + TYPED}


@pytest.mark.slow
def test_each_failure_names_the_one_bug_that_there_is(tmp_path: Path) -> None:
    scaled = KERNEL.replace("query.shape[-1] ** -0.5", "1 / query.shape[-1]").replace(
        "(N, M, M - N, dtype", "(N, M, 0, dtype"
    )
    _, found = failures(tmp_path, kernel=scaled)
    (message,) = messages(found)
    assert message.startswith("the output is wrong with ")
    assert "looks like: Wrong softmax scale (1/sqrt(D)) (BUG-14" in message
    assert (
        "(divides_by_width); or Applies the scale twice" in message
    )  # which is the same by default


@pytest.mark.slow
@pytest.mark.parametrize(("words", "code"), [((), 1), (("-x",), 2)])  # xdist's own exit codes
def test_workers_explain_it_once(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    lines, found = failures(tmp_path, *XDIST, *words, code=code)
    assert sum("why clauses fail" in line for line in lines) == 1
    assert sum("cause found" in line for line in lines) == 1
    assert sum(line.startswith("1. at (") for line in lines) == 1
    assert f"fails {len(found)} clause" in "\n".join(lines)
    assert messages(found) == {ALIGNED + IN_PYTHON}
    assert f"{len(found)} failing clauses in" in lines[-1]
