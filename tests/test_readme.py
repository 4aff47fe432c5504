"""The pages are true: their tables are the specification's, and what they name exists."""

import re
from pathlib import Path

import pytest

from spec import CLAUSES
from spec.certification.contents import markdown
from spec.certification.doors import requested
from spec.certification.judging.examiner import Examiner
from spec.certification.profiles import PROFILES
from spec.kinds import KINDS
from tests.bench import figures
from tests.shell import FEW, certify, run

ROOT = Path(__file__).parent.parent
M = re.MULTILINE | re.DOTALL
TORCH = "torch.nn.functional:scaled_dot_product_attention"
DOCS = ROOT / "docs"
TEXT = (ROOT / "README.md").read_text()
REFERENCE, REPORT = ((DOCS / f"{name}.md").read_text() for name in ("reference", "report"))
PAGES = [
    path
    for path in sorted(ROOT.rglob("*.md"))
    if not any(part.startswith((".", "build")) for part in path.relative_to(ROOT).parts)
]


def test_the_table_of_clauses_is_the_specification() -> None:
    page = ROOT / "spec" / "README.md"
    assert page.read_text() == markdown(CLAUSES), (
        "python -m spec clauses --markdown > spec/README.md"
    )


@pytest.mark.torch
def test_the_certificate_shown_has_a_verdict_on_every_clause() -> None:
    """What is not offered is settled before anything is judged."""
    survey = Examiner.of(TORCH, requested(TORCH, {})).survey()
    total = len(survey.items) + len(survey.settled)
    assert f"+ {len(survey.settled)} not supported = {total}\n" in REPORT


def test_the_figures_are_those_that_were_measured() -> None:
    for page, text in figures.pages().items():
        assert page.read_text() == text, "python -m tests.bench.figures"


def test_a_newcomer_reads_it_at_a_glance() -> None:
    assert len(TEXT.splitlines()) <= 120


def write_shown(page: str, file: str, folder: Path) -> None:
    """Write a file that a page shows to a folder."""
    (text,) = re.findall(rf"^```python\n(# {file}\n.*?)^```", (ROOT / page).read_text(), M)
    (folder / file).write_text(text)


@pytest.mark.parametrize(
    ("page", "target"),
    [
        ("README.md", "mine.py:attend"),
        ("docs/function.md", "mine.py:attend"),
        ("docs/cache.md", "mine.py:Cache"),
        pytest.param("docs/cache.md", "adapted.py:Cache", marks=pytest.mark.torch),
    ],
)
def test_the_file_that_a_page_shows_is_certified(page: str, target: str, tmp_path: Path) -> None:
    write_shown(page, target.partition(":")[0], tmp_path)
    done = run("certify", target, *FEW, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/function.md"])
def test_the_function_that_a_page_shows_is_certified_by_default(page: str, tmp_path: Path) -> None:
    """With the standard profile, in all formats: sums over 2^17 keys overflow in float16."""
    write_shown(page, "mine.py", tmp_path)
    done = run("certify", "mine.py:attend", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reference_explains_every_option() -> None:
    rows = (DOCS / "public.md").read_text().splitlines()
    (row,) = [x for x in rows if x.startswith("| `certify` | `--")]
    there = {*re.findall(r"`(--[a-z-]+)", row)}
    explained = {*re.findall(r"`(--[a-z-]+)", REFERENCE.partition("## Conventions")[0])}
    assert there
    assert there <= explained


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_it_links_to_exists(page: Path) -> None:
    for link in re.findall(r"\]\((?!http|#)([^)]+)\)", page.read_text()):
        assert (page.parent / link.partition("#")[0]).exists(), link


def test_every_environment_it_names_exists() -> None:
    tox = (ROOT / "tox.ini").read_text()
    named = {name for page in PAGES for name in re.findall(r"tox run -e (\w+)", page.read_text())}
    assert named
    assert all(f"[testenv:{name}]" in tox for name in named)


def test_conventions_and_profiles_are_those_there_are() -> None:
    choices = {name: x for kind in KINDS.values() for name, x in kind.truth().choices.items()}
    assert choices
    for name, values in choices.items():
        row = next(x for x in REFERENCE.splitlines() if x.startswith(f"| `{name}` |"))
        assert {*re.findall(r"`([^`]+)`", row.partition(":")[0])[1:]} == {*values}
    assert all(f"`{name}`" in REFERENCE for name in PROFILES)


def test_the_refusal_that_it_shows_is_what_is_printed() -> None:
    """But for the figures, which it says are left out, and what it cuts off at the end."""
    block = next(x for x in TEXT.split("```") if x.startswith("\nelementwise: not certified"))
    shown = [line for line in block.splitlines() if line and line.strip() != "..."]
    printed = certify("elementwise").stdout.splitlines()
    assert [line for line in shown if line not in printed] == []
