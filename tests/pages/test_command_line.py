"""Pages as people ask for them: in a process of its own, with what they may get wrong."""

import os
import shutil

import pytest

from tests.night import deep
from tests.pages.parsed import page
from tests.shell import NO_CAUSES, certify, run

pytestmark = pytest.mark.html
WITHOUT = (
    "import sys; sys.modules['jinja2'] = None; from spec.certification.command_line import main; "
    "sys.exit(main(sys.argv[1:]))"
)
REASON = "error: pages need Jinja2: pip install jinja2\n"


@pytest.mark.parametrize(
    ("words", "told"), [(NO_CAUSES, "no cause was found"), deep((), "gradients are wrong")]
)
def test_certify_writes_a_page(tmp_path, words, told):
    file = tmp_path / "new" / "c.html"
    done = certify("elementwise", "--clause", "K2", "--html", str(file), *words)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("elementwise: not certified")
    assert told in page(file.read_text(encoding="utf-8")).text
    assert [*file.parent.iterdir()] == [file]


@pytest.mark.slow
def test_without_jinja_one_line_says_so_before_anything_is_judged(tmp_path, judged_once):
    _, kept = judged_once("tests.targets:elementwise")
    file = str(tmp_path / "c.html")
    for words in (("certify", "tests.targets:right"), ("compare", str(kept))):
        done = run(*words, "--html", file, program=("-c", WITHOUT))
        assert (done.returncode, done.stdout, done.stderr) == (2, "", REASON)
    assert [*tmp_path.iterdir()] == []
    done = run("compare", str(kept), str(kept), program=("-c", WITHOUT))
    assert (done.returncode, done.stdout) == (0, "nothing changed\n")


@pytest.mark.usefixtures("wrong", "right")
def test_compare_writes_a_table_and_pages(tmp_path, judged_once):
    files = [judged_once(f"tests.targets:{x}")[1] for x in ("right", "elementwise")]
    html, text = tmp_path / "m.html", tmp_path / "m.md"
    done = run("compare", *map(str, files), "--html", str(html), "--markdown", str(text))
    assert done.returncode == 0, done.stderr
    assert "✗ a required clause fails" in done.stdout
    assert "2 implementations compared" in page(html.read_text(encoding="utf-8")).text
    assert "| verdict |" in text.read_text(encoding="utf-8")
    folder = run("compare", str(files[0].parent))
    assert folder.returncode == 0
    assert "when not" in folder.stdout


def test_compare_leaves_out_files_of_a_folder_that_are_no_certificates(tmp_path, judged_once):
    """A campaign keeps its settings with its certificates."""
    _, kept = judged_once("tests.targets:elementwise")
    shutil.copy(kept, tmp_path / "0.json")
    (tmp_path / "campaign.json").write_text('{"targets": [], "edition": "1"}')
    done = run("compare", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"left out, as no certificates: {tmp_path / 'campaign.json'}\n"
    assert [x for x in done.stdout.splitlines() if x.startswith("0  tests  not certified")]


@pytest.mark.quick(
    "words8*", "words3*", "words7*", "words2*", "words4*", "words1-holds*", "words9*"
)
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("compare", "{kept}"), "compare takes two certificates, or a folder of them"),
        (("compare", "{empty}"), "holds no certificate"),
        (("compare", "{others}"), "holds no certificate"),
        (("compare", "{others}/campaign.json", "--html", "{page}"), "it has no verdicts"),
        (("compare", "{broken}", "--html", "{page}"), "is no certificate"),
        (("compare", "nowhere.json", "--html", "{page}"), "cannot be read"),
        (("compare", "{kept}", "--html", os.sep), "cannot be written"),
        (("compare", "{kept}", "--markdown", f"{os.devnull}/m"), "cannot be written"),
        (("compare",), "are required"),
        (("certify", "tests.targets:right", "--html", f"{os.devnull}/c"), "cannot be written to"),
        (("certify", "--html", "{page}"), "pyproject.toml"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_half_written(words, reason, tmp_path, judged_once):
    _, kept = judged_once("tests.targets:elementwise")
    folder = tmp_path / "out"
    places = {x: tmp_path / x for x in ("empty", "broken", "others")}
    for place in places.values():
        place.mkdir()
    (places["broken"] / "x.json").write_text('{"verdicts": []}')
    (places["others"] / "campaign.json").write_text('{"seeds": []}')
    places |= {"kept": kept, "page": folder / "p.html"}
    done = run(*(x.format(**places) for x in words), cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert reason in done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert not folder.exists() or not [*folder.iterdir()]
