"""Every recipe of CONTRIBUTING.md works: it is followed to the letter in a copy of the repository.

A recipe is a heading of the third level with blocks below it. What stands in the line before a
block says what it is: a new file, the end of a file, or, as lines with signs before them, a change
of a file, whose other lines say where. A console block holds commands, and words that they print.
Those that are `python -m spec` are copies of one process of the changed repository
(`tests.prepared`): to start Python for each, and for its worker, would take most of the time.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests import shell
from tests.night import deep
from tests.prepared import Prepared

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
TEXT = PAGE.read_text()
RECIPES = dict(re.findall(r"^### (.+?)\n(.+?)(?=^##|\Z)", TEXT, re.M | re.S))
PLACE = r"(?:(New file|At the end of|In) `(\S+)`.*:\n+)?"
BLOCK = re.compile(rf"^{PLACE}```(\w+)\n((?s:.*?))^```$", re.M)
FOLDERS = ("spec", "attention_spec", "tests", "implementations", "oracles")
NEEDED = (*FOLDERS, "conftest.py", "pytest_attention_spec.py", "pyproject.toml")
EXIT = re.compile(r"  # exit (\d)$")


def copied(folder: Path) -> None:
    """What a recipe is about; compiled files come along, and are up to date."""
    for name in NEEDED:
        place = ROOT / name
        (shutil.copytree if place.is_dir() else shutil.copy2)(place, folder / name)


def put(how: str, path: Path, block: str) -> None:
    """Do to a file what a block says. Raises AssertionError where it does not fit."""
    assert path.exists() == (how != "New file"), "the file"
    before = path.read_text() if path.exists() else ""
    if how == "In":
        for hunk in block.split("\n\n"):
            lines = hunk.splitlines()
            old, new = ("".join(f"{x[1:]}\n" for x in lines if x[0] in s) for s in (" -", " +"))
            assert before.count(old) == 1, f"{before.count(old)} times in the file:\n{old}"
            before = before.replace(old, new)
        path.write_text(before)
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text(before + block)


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block, with the lines that are shown of what it prints."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, *shown = part.replace("\\\n", "").splitlines()  # which goes on in the next line
        yield command, shown


def ran(command: str, folder: Path, copied: Prepared | None) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder: by a shell, or as a copy of a process of the specification."""
    words = shlex.split(command, comments=True)
    if copied is None or words[:3] != ["python", "-m", "spec"]:
        return subprocess.run(
            command, shell=True, cwd=folder, env=environment(folder), capture_output=True, text=True
        )
    words, file = (words[3:-2], words[-1]) if words[-2] == ">" else (words[3:], None)
    done = copied.run(words, str(folder), environment(folder), timeout=120)
    if file:
        (folder / file).write_text(done.stdout)
    return done


def environment(folder: Path) -> dict[str, str]:
    """What finds this Python, and the repository in a folder."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**shell.environment([str(folder)]), "PATH": path}


def keep(done: subprocess.CompletedProcess[str], command: str, shown: list[str]) -> None:
    """Find what a command promises in its output, in that order. Raises AssertionError."""
    said, promised = done.stdout + done.stderr, EXIT.search(command)
    assert done.returncode == int(promised[1] if promised else 0), said
    rest = " ".join(said.split())
    for line in shown:
        _, found, rest = rest.partition(" ".join(line.split()))
        assert found or not line.strip(), f"{line!r} is not shown:\n{said}"


@pytest.mark.quick("A mistake-*", "A clause-*")
@pytest.mark.parametrize("copies", [True, deep(False)], ids=["copies", "shell"])
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_works_to_the_letter(
    name: str, copies: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied(tmp_path)
    monkeypatch.chdir(tmp_path)  # where modules are found first
    for step, block in enumerate(BLOCK.finditer(RECIPES[name]), start=1):
        how, path, language, text = block.groups()
        try:
            if language == "console":
                with ExitStack() as stack:
                    starts = shell.PYTHON, environment(tmp_path)
                    process = stack.enter_context(closing(Prepared(*starts))) if copies else None
                    for command, shown in commands(text):
                        keep(ran(command, tmp_path, process), command, shown)
            else:
                assert how, "no line says where it goes"
                put(how, tmp_path / path, text)
        except AssertionError as error:
            pytest.fail(f"{name}, step {step} ({how or language} {path or ''}): {error}")


def test_there_are_seven_and_each_shows_that_it_works() -> None:
    assert len(RECIPES) == 7
    assert all("```console\n" in recipe for recipe in RECIPES.values())


def test_it_is_easy_to_read() -> None:
    assert [line for line in TEXT.splitlines() if len(line) > 100] == []
