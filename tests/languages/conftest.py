"""The examples in other languages, built as their first lines say."""

import re
import shlex
import shutil
import subprocess

import pytest

from spec.backends import elsewhere
from tests.shell import run
from tests.walked import ROOT

EXAMPLES = {  # a folder -> its file, what builds or runs it, what is wrong without a scale
    "c": ("attention.c", "cc", "1 / sqrt((double)a->D)", "1.0"),
    "cpp": ("attention.cpp", "c++", "1 / std::sqrt(double(D))", "1.0"),
    "rust": ("attention.rs", "rustc", "1.0 / (d as f64).sqrt()", "1.0"),
    "javascript": ("attention.mjs", "node", "1 / Math.sqrt(D)", "1"),
}
COMMAND = re.compile(r"^(?://| \*) {5}(.+)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def nobody_elsewhere():
    yield
    elsewhere.leave()


def needs(tool):
    """A mark for tests that need a compiler."""
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"there is no {tool} here")


LANGUAGES = [pytest.param(name, marks=needs(x[1]), id=name) for name, x in EXAMPLES.items()]


def commands(language):
    """The commands in the first lines of an example; the last one certifies it."""
    text = (ROOT / "examples" / language / EXAMPLES[language][0]).read_text(encoding="utf-8")
    return COMMAND.findall(text)


def built(language, folder, *changes):
    """What an example is certified as, after its commands ran in a folder with a copy of it."""
    file = EXAMPLES[language][0]
    there = folder / "examples" / language
    there.mkdir(parents=True, exist_ok=True)
    text = (ROOT / "examples" / language / file).read_text(encoding="utf-8")
    for right, wrong in changes:
        assert right in text
        text = text.replace(right, wrong)
    (there / file).write_text(text, encoding="utf-8")
    *building, last = commands(language)
    for command in building:
        if command.startswith("attention-spec header"):
            done = run("header")
            assert done.returncode == 0
            (there / "attention_spec.h").write_text(done.stdout)
            continue
        subprocess.run(shlex.split(command), cwd=folder, check=True)
    return shlex.split(last)[2]


@pytest.fixture(scope="session")
def targets(tmp_path_factory):
    """By language: the folder and the target of the example."""
    known = {}

    def found(language):
        if language not in known:
            folder = tmp_path_factory.mktemp(language)
            known[language] = folder, built(language, folder)
        return known[language]

    return found


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The path of a library, compiled from a text of C that has the header."""
    folder = tmp_path_factory.mktemp("libraries")
    (folder / "attention_spec.h").write_text(run("header").stdout)

    def compiled(name, text):
        source = folder / f"{name}.c"
        source.write_text(f'#include "attention_spec.h"\n{text}')
        words = ["cc", "-Wall", "-Werror", "-fPIC", "-shared", "-o", f"{name}.so", source.name]
        subprocess.run(words, cwd=folder, check=True)
        return folder / f"{name}.so"

    return compiled
