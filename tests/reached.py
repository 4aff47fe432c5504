"""Which test files a change can reach: what `pytest --changed` runs.

A change of a file reaches those that import it, also inside functions or for types alone, and
those that name it in a string: a module ("implementations.dense:attend"), a file, a pattern of
files, or a folder with all that is in it. A package that is named, or in which names of modules
are put together (f"{__name__}.clauses.{name}"), counts with all that is in it. What a package
loads on the way to a module that is wanted does not count, unless it is the package that changed.
"""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from tests.walked import imported, name_of, parsed, reached, strings

EVERYTHING = ("conftest.py", "pyproject.toml", "tox.ini")  # how every test is run
TEST = re.compile(r"(^|/)test_\w+\.py$")
WORD = re.compile(r"[\w.*/\[\]!-]+")


class Files:
    """The files of a repository, by the names that programs have for them.

    paths: of files, relative to `root`; some may have been deleted.
    """

    def __init__(self, root: Path, paths: Iterable[str]) -> None:
        self.root, self.paths = root, sorted(paths)
        self.tests = {path for path in self.paths if TEST.search(path)}
        python = [path for path in self.paths if path.endswith(".py")]
        self.modules = {name_of(root / path, root): root / path for path in python}
        self.ends, self.below = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for path in self.paths:
            parts = path.split("/")
            for first in range(len(parts)):
                self.ends["/".join(parts[first:])].add(path)
                for last in range(first + 1, len(parts)):
                    self.below["/".join(parts[first:last])].add(path)

    def module(self, name: str) -> set[str]:
        """The file of a module; all files of a package."""
        path = self.modules[name].relative_to(self.root)
        return self.below[str(path.parent)] if path.name == "__init__.py" else {str(path)}

    def imported(self, path: Path) -> Iterator[str]:
        """The files that a Python file imports; what a package only hands on, from where it is."""
        for source, name in imported(path, self.modules):
            source = re.sub(r"^attention_spec\b", "spec", source)
            whole = f"{source}.{name}"
            while whole not in self.modules and name in (handed := self._handed_on(source)):
                source = handed[name]
                whole = f"{source}.{name}"
            found = whole if whole in self.modules else source
            if found in self.modules:
                yield str(self.modules[found].relative_to(self.root))

    def _handed_on(self, package: str) -> dict[str, str]:
        """The module in which each name stands that a package imports."""
        path = self.modules.get(package)
        if path is None or path.name != "__init__.py" or not path.exists():
            return {}
        return {name: source for source, name in imported(path, self.modules) if name}

    def named(self, text: str, package: str) -> Iterator[str]:
        """The files that a string names in a module of a package."""
        if text in self.modules:
            yield from self.module(text)
        for word in WORD.findall(text):
            if re.search(r"\*\.\w+$", word) and not word.endswith(
                ".py"
            ):  # as tests look for scripts
                pattern = word.split("/")[-1]
                yield from (x for x in self.paths if fnmatch(x.split("/")[-1], pattern))
            elif word in self.ends:
                yield from self.ends[word]
            elif "/" in word:
                yield from self.below[word.strip("/")]
            elif "." in word:
                yield from self._dotted(word, package)

    def _dotted(self, word: str, package: str) -> Iterator[str]:
        """The files of a module by its name, relative or not, or by that of something it has."""
        parts, above = word.strip(".").split("."), package.split(".")
        relative = word.startswith(".")
        starts = [above[:n] for n in range(len(above), 0, -1)] if relative else [[]]
        least = 1 if word.endswith(".") else 2
        lengths = [len(parts)] if relative else range(len(parts), least - 1, -1)
        names = (".".join([*start, *parts[:n]]) for start in starts for n in lengths)
        yield from next((self.module(name) for name in names if name in self.modules), ())

    def needed(self, path: str) -> set[str]:
        """All files that a file imports or names."""
        place = self.root / path
        if not path.endswith(".py") or not place.exists():
            return set()
        package = ".".join(path.split("/")[:-1])
        found = {*self.imported(place)}
        for text in strings(place):
            found.update(self.named(text, package))
        for folder in _folders(place):
            found |= self.below[folder]
        if package in self.modules and _puts_names_together(place):
            found |= self.module(package)
        return found

    def test_files(self, changed: Collection[str]) -> tuple[set[str], str]:
        """The test files that a change of some files reaches, and in words why these."""
        if settled := [path for path in sorted(changed) if path.split("/")[-1] in EVERYTHING]:
            return self.tests, f"{settled[0]} concerns all"
        back = defaultdict[str, set[str]](set)
        for path in self.paths:
            for other in self.needed(path):
                back[other].add(path)
        chosen = set[str]()
        for path in sorted(changed):
            starts = self.below[path.removesuffix("/__init__.py")] if "/__init__.py" in path else ()
            found = {path}.union(starts, *(reached(back, start) for start in {path, *starts}))
            if not path.endswith(".py") and not found & self.tests:
                return self.tests, f"no test names {path}"
            chosen |= found & self.tests
        return chosen, f"what {_listed(changed)} reaches" if changed else "nothing is changed"


def _folders(path: Path) -> set[str]:
    """The names that are appended to paths in a file: of folders, it may be."""
    return {
        node.right.value
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        if isinstance(node.right, ast.Constant) and isinstance(node.right.value, str)
    }


def _puts_names_together(path: Path) -> bool:
    """Whether a file has a string like f"{__name__}.{name}"."""
    return any(
        isinstance(node, ast.JoinedStr)
        and re.match(r"f['\"]\{__(name|package)__\}\.\{", ast.unparse(node))
        for node in ast.walk(parsed(path))
    )


def _listed(changed: Collection[str]) -> str:
    """Some of what is changed, and how much there is beside it."""
    first, *others = sorted(changed)
    return f"{first} and {len(others)} more" if others else first


def changed_files(root: Path, since: str) -> tuple[set[str], set[str]]:
    """The files that differ from a commit, and all files that there are or were.

    Raises ValueError in a line: there is no such commit, or no repository.
    """
    differ = _git(root, "diff", "--name-only", "--no-renames", "--relative", "-z", since, "--")
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return differ | new, _git(root, "ls-files", "-z") | differ | new


def _git(root: Path, *words: str) -> set[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or ["git failed"])[0])
    return {path for path in done.stdout.split("\0") if path}
