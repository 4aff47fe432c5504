"""Certificates carry the hash of the specification and that of the target's file."""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from spec import CLAUSES
from spec.certification.doors import certify
from spec.certification.judging import edition as judged_by
from spec.certification.judging.edition import OURS, THEIRS, edition, hashes
from spec.certification.pages.certificate_page import certificate_page
from spec.version import CURRENT
from tests import targets
from tests.shell import FEW, run

A1 = {"profile": "quick", "dtypes": ["float32"], "clauses": ["A1"]}
MINE = "from tests.targets import right as attend\n"
REWRITES = f"{MINE}from pathlib import Path\nPath(__file__).write_text('{MINE[:-1]}  # other')\n"


def sha256(file):
    return f"sha256 {hashlib.sha256(Path(file).read_bytes()).hexdigest()}"


def test_another_word_or_another_name_is_another_specification(tmp_path, monkeypatch):
    root = tmp_path / "spec"
    shutil.copytree(judged_by.ROOT, root, ignore=shutil.ignore_patterns("__pycache__", "*.md"))
    monkeypatch.setattr(judged_by, "ROOT", root)
    assert edition.__wrapped__() == edition()
    file = root / "attention" / "definition.py"
    file.write_text(file.read_text().replace("softmax", "softMax", 1))
    assert (other := edition.__wrapped__()) != edition()
    file.rename(file.with_name("definitions.py"))
    assert edition.__wrapped__() not in (other, edition())


@pytest.mark.parametrize("as_text", [True, False])
def test_a_certificate_carries_them_and_shows_them(tmp_path, as_text):
    target = "tests.targets:right" if as_text else targets.right
    certificate = certify(target, **A1)
    want = {OURS: edition(), THEIRS: sha256(targets.__file__)}
    assert want.items() <= certificate.versions.items()
    shown = f"hashes        specification {CURRENT} {want[OURS]}, target {want[THEIRS]}\n"
    assert str(certificate).count(shown) == 1
    certificate.save(file := tmp_path / "saved.json")
    assert want.items() <= json.loads(file.read_text())["versions"].items()


@pytest.mark.html
def test_a_page_shows_them():
    page = certificate_page(certify(targets.right, **A1), CLAUSES)
    assert f"specification {edition()}, target {sha256(targets.__file__)}, isolation none" in page


def test_the_file_is_that_which_was_there_before_it_was_imported(tmp_path):
    (file := tmp_path / "mine.py").write_text(REWRITES)
    before = sha256(file)
    words = ("--profile", "quick", "--dtype", "float32", "--clause", "A1", "--json", "x.json")
    words += ("--isolation", "fork")
    done = run("certify", "mine.py:attend", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert file.read_text() != REWRITES
    assert json.loads((tmp_path / "x.json").read_text())["versions"][THEIRS] == before


def test_a_module_is_found_and_not_imported(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "__init__.py").write_text("raise SystemExit('it was imported')\n")
    (file := tmp_path / "folder" / "mine.py").write_text("raise SystemExit('it was imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert hashes("folder.mine:attend")[THEIRS] == sha256(file)
    assert "folder" not in sys.modules


def test_the_file_may_be_in_folders_that_have_no_init(tmp_path):
    file = tmp_path / "outer" / "inner" / "mine.py"
    file.parent.mkdir(parents=True)
    file.write_text(MINE)
    done = run("certify", "outer.inner.mine:attend", *FEW, "--clause", "A1", cwd=tmp_path)
    assert f"target {sha256(file)}\n" in done.stdout, done.stderr


def test_what_is_installed_is_named_with_its_version():
    import hypothesis

    told = hashes("hypothesis:given")[THEIRS]
    assert told == f"hypothesis {hypothesis.__version__} {sha256(hypothesis.__file__)}"


@pytest.mark.parametrize("target", ["sys:exit", "none.py:attend", "nowhere.at.all:x", ""])
def test_what_is_in_no_file_has_no_hash(target):
    assert hashes(target)[THEIRS] == "of no file"


@pytest.mark.parametrize("words", [("certify", "mine.py:attend"), ("grade", "mine.py")])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(words, tmp_path):
    os.mkfifo(tmp_path / "mine.py")
    done = run(*words, cwd=tmp_path, timeout=30)
    assert done.returncode == 2
    assert "there is no file 'mine.py'" in done.stdout + done.stderr
