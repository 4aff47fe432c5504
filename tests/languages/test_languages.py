"""Programs in C++, Rust and JavaScript, and a function of C, are certified as functions are."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from attention_spec import certify
from spec.runner.foreign.libraries import listed
from tests.languages.conftest import EXAMPLES, LANGUAGES, built, commands, needs
from tests.shell import FEW, NO_CAUSES, environment, run
from tests.walked import ROOT

M = re.MULTILINE | re.DOTALL
SCALE = ("scale=None, ", "")  # else the cause is that a scale must be given


@pytest.mark.quick("c")
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_is_certified_by_its_command(language, targets):
    folder, _ = targets(language)
    words = shlex.split(commands(language)[-1])
    assert words[:2] == ["attention-spec", "certify"]
    done = run("certify", *words[2:], cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    first, *lines = done.stdout.splitlines()
    assert first == "attend: certified (quick)"
    assert any(line.endswith("all of them pass") for line in lines)
    assert any(line.startswith("isolation     process") for line in lines)
    assert any(line.split() == ["section", "float64", "float32"] for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_without_a_scale_it_is_refused_with_a_script_that_fails(language, tmp_path):
    target = built(language, tmp_path, EXAMPLES[language][2:])
    words = ("--clause", "A1", "--report", "report")
    done = run("certify", target, *FEW, *words, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "correct if the scale is given, 1 / sqrt(D)" in done.stdout
    script = next((tmp_path / "report").glob("cause-*.py"))
    assert again(script) == 1
    built(language, tmp_path)  # the right one, in its place
    assert again(script) == 0


def again(script):
    """The exit code of a script that a report has."""
    words = [sys.executable, "-W", "error", str(script)]
    return subprocess.run(words, cwd=script.parent, env=environment([]), check=False).returncode


@pytest.mark.slow
@needs("cc")
def test_a_bug_in_a_function_of_c_is_named(tmp_path):
    target = built("c", tmp_path, EXAMPLES["c"][2:], SCALE)
    done = run("certify", target, *FEW, "--clause", "A1", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "leaves_scores_unscaled, BUG-14" in done.stdout


@needs("cc")
def test_gradients_and_the_log_sum_exp_of_c_are_tested(tmp_path):
    target = built("c", tmp_path, ("(dweight - mean)", "(dweight)"))
    clauses = ("--clause", "A1,A2,A7", "--json", "found.json")
    done = run("certify", target, *FEW, *NO_CAUSES, *clauses, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    outcomes = {one["clause"]: one["outcome"] for one in found["verdicts"]}
    assert outcomes == {"A1": "holds", "A2": "violated", "A7": "holds"}


@pytest.mark.slow
@needs("c++")
def test_python_and_a_table_name_a_program_like_other_targets(targets, monkeypatch):
    folder, target = targets("cpp")
    monkeypatch.chdir(folder)
    certificate = certify(target, profile="quick", dtypes=["float32"], clauses=["A1"])
    assert certificate.passed
    assert certificate.versions["isolation"].startswith("process")
    written = f"[tool.attention-spec.targets.mine]\ntarget = {target!r}\nclauses = ['A1']\n"
    (folder / "pyproject.toml").write_text(written)
    done = run("certify", "mine", *FEW, cwd=folder / "examples")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("attend: certified (quick)")


@pytest.mark.slow
@needs("c++")
def test_a_symbolic_link_and_a_name_after_a_colon_are_the_same_program(targets, tmp_path):
    folder, target = targets("cpp")
    (tmp_path / "mine").symlink_to(folder / target)
    done = run("certify", "./mine:attend", *FEW, "--clause", "A1", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run("certify", "./mine:other", *FEW, cwd=tmp_path)
    assert done.returncode == 2
    assert "mine has no function 'other'; it has attend" in done.stderr


@needs("c++")
def test_a_format_that_a_program_does_not_have_is_told_with_those_that_it_has(targets):
    folder, target = targets("cpp")
    done = run("certify", target, "--dtype", "float32,float16", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == f"error: {target}:attend has no float16: it has float64, float32\n"


@pytest.mark.slow
def test_a_function_of_python_cannot_say_which_formats_are_tested(tmp_path):
    mean = "value.mean(2, keepdims=True).repeat(query.shape[2], 2)"
    named = "attend.__formats__ = ('float32',)"
    text = f"def attend(query, key, value):\n    return {mean}\n\n{named}\n"
    (tmp_path / "mine.py").write_text(text)
    words = ("--profile", "quick", "--clause", "A1", *NO_CAUSES, "--isolation", "process")
    done = run("certify", "mine.py:attend", *words, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    sections = [x.split() for x in done.stdout.splitlines() if x.startswith("section ")]
    assert sections == [["section", "float64", "float32", "float16"]]


@pytest.mark.slow
def test_what_is_no_program_is_told_in_a_line(tmp_path):
    (tmp_path / "mine.rs").write_text("fn main() {}")
    for name in ("mine", "text"):
        (tmp_path / name).write_text("print('no shebang')")
    os.chmod(tmp_path / "text", 0o755)
    for target, said in {
        "./none": "there is no file './none'",
        "./mine.rs": "./mine.rs is source text: compile it, and name the program or the library",
        "./mine": "./mine is not executable: type `chmod +x ./mine`",
        "mine": "mine: a program is named by its path: ./mine",
        "./": "./ is a folder",
        "./text": "Exec format error; the first line of a script names its interpreter",
        "none.so:attend": "there is no file 'none.so'",
    }.items():
        done = run("certify", target, cwd=tmp_path)
        assert done.returncode == 2, target
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.slow
@needs("cc")
@needs("c++")
def test_the_files_of_the_guide_are_certified_by_its_commands(tmp_path):
    page = (ROOT / "docs" / "languages.md").read_text(encoding="utf-8")
    for kind, file in (("c", "mine.c"), ("cpp", "mine.cpp")):
        text, commands = re.search(rf"^```{kind}\n(.*?)^```\n\n```\n(.*?)^```", page, M).groups()
        assert file in text.partition("\n")[0]
        (tmp_path / file).write_text(text)
        for command in commands.splitlines():
            ours, *words = shlex.split(command)
            if words[1:2] == [">"]:
                (tmp_path / words[2]).write_text(run(words[0]).stdout)
            elif ours == "attention-spec":
                done = run(*words, cwd=tmp_path)
                assert done.returncode == 0, done.stdout + done.stderr
                assert done.stdout.startswith("attend: certified (quick)")
            else:
                subprocess.run([ours, "-Wall", "-Werror", *words], cwd=tmp_path, check=True)


@needs("cc")
@needs("c++")
@pytest.mark.parametrize("compiler", [("cc", "-std=c99", "-xc"), ("c++", "-std=c++11", "-xc++")])
def test_the_header_is_one_of_both_languages(compiler, tmp_path):
    lines = ('#include "attention_spec.h"', 'ATTENTION_SIGNATURE(f, "(query)");', "")
    (tmp_path / "f.c").write_text("\n".join(lines))
    (tmp_path / "attention_spec.h").write_text(run("header").stdout)
    words = (*compiler, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", "f.so", "f.c")
    subprocess.run(words, cwd=tmp_path, check=True)
    assert listed(str(tmp_path / "f.so")) == ["f"]


def test_the_page_has_every_example_and_its_command():
    page = (ROOT / "examples" / "README.md").read_text()
    for language, (file, *_) in EXAMPLES.items():
        assert f"({language}/{file})" in page
        assert f"`{commands(language)[-1]}`" in page
