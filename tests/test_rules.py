"""Rules of the house that a program can keep: circles, dangerous words, long files.

Each rule has its exceptions as data, with a reason. The lists only become shorter: an exception
that is no longer one is a failure as well. That each rule can be broken is tested on trees that
are made up.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.walked import ROOT, circles, graph, imports, lines, modules, parsed, strings

MODULES = modules("spec")
ENGINE = modules("spec/certification")
MARKS = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
NAMED = re.compile(r"(torch|jax|jaxlib)([.:][\w.:]*)?")  # a library, or something that it has

CIRCLES: Mapping[frozenset[str], str] = {
    frozenset(
        f"spec.attention.{name}" for name in ("asking", "domain", "windows")
    ): "what draws an option reads the domain, which draws them all: until options are a record"
}

# Who may run text as a program, start or copy processes, and talk to them.
DANGEROUS: Mapping[str, tuple[str, str]] = {
    "spec.runner.zygote": (
        "fork signal socket subprocess",
        "copies itself for each runner; ends what a copy has started, and removes its files",
    ),
    "spec.runner.find": ("exec", "a target is run from its file, not from bytes beside it"),
    "spec.runner.foreign.programs": ("subprocess", "starts a target that is a program"),
    "spec.runner.layers": ("eval", "a description holds expressions of its user"),
    "spec.runner.serve": ("socket", "a runner answers the judge"),
    "spec.runner.landlock": ("signal", "a runner ends with the process that has started it"),
    "spec.runner.spaces": ("fork signal", "is copied into namespaces, and ends as a runner does"),
    "spec.boundary.messages": ("signal", "knows which signals end a process"),
    "spec.boundary.connection": ("socket", "asks the process with the target"),
    "spec.boundary.runners": ("socket subprocess", "starts the process with the target"),
    "spec.layer.plug.expressions": ("eval", "a description holds expressions of its user"),
    "spec.certification.explaining.relation": ("exec", "a script is tried before it is shown"),
    "spec.certification.starting": ("socket subprocess", "starts the first process of a run"),
    "spec.certification.attended": ("signal", "Ctrl-C ends a run, and keeps what was judged"),
    "spec.certification.target.ward": ("fork pickle signal", "a call may kill its process"),
    "spec.certification.isolation.copying": (
        "fork signal socket subprocess",
        "a process that has imported the target is copied for each that judges",
    ),
    "spec.certification.isolation.worker": ("signal socket", "the process that judges"),
    "spec.certification.isolation.pristine": ("fork pickle", "a copy that nobody has asked"),
    "spec.certification.isolation.sharing": ("fork pickle signal", "a copy does half of the work"),
    "spec.certification.watching": (
        "fork signal subprocess",
        "a target may end its process: who notices it lives in another one",
    ),
    "spec.certification.ledger.judgements": ("subprocess", "runs the scripts of a ledger"),
}
STARTING = ("system", "popen", "exec", "spawn", "posix_spawn")  # of `os`, or what begins so
WORDS = ("pickle", "socket", "subprocess", "signal")
FORKS = ("multiprocessing", "os.fork", "concurrent.futures.Process", "futures.Process")

LINES, IMPORTS = 250, 25
FOLDERS = ("spec", "attention_spec", "oracles", "implementations", "tests", "docs")
LONG: Mapping[str, str] = {}
MANY: Mapping[str, str] = {
    "spec.certification.judging.examiner": "all stages meet in it: until it is divided by stage"
}
PARTS = {"clauses", "definition", "rounding", "proofs"}
TOOLS = {"plug", "backends", "certification"}


def dangerous(path: Path) -> set[str]:
    """Which of the dangerous words a file has a use for."""
    return {word for node in ast.walk(parsed(path)) for name in _used(node) for word in _word(name)}


def _used(node: ast.AST) -> Iterator[str]:
    """What a node imports or looks up, by dotted name."""
    match node:
        case ast.Import(names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module, names):
            yield from (f"{module}.{alias.name}" for alias in names)
        case ast.Name(name):
            yield f"builtins.{name}"
        case ast.Attribute(ast.Name("os" | "builtins" | "futures" as name), attribute):
            yield f"{name}.{attribute}"
        case ast.Call(ast.Name("import_module" | "__import__"), [ast.Constant(str(name)), *_]):
            yield name


def _word(name: str) -> Iterator[str]:
    """The dangerous words that a dotted name stands for: one, or none."""
    first, _, rest = name.partition(".")
    if first == "builtins" and rest in ("eval", "exec"):
        yield rest
    elif first in WORDS:
        yield first
    elif name.startswith(FORKS):
        yield "fork"
    elif first == "os" and rest.startswith(STARTING):
        yield "subprocess"


def long(root: Path, *folders: str) -> set[str]:
    """The modules with more lines than a module may have."""
    return {name for name, path in modules(*folders, root=root).items() if lines(path) > LINES}


def tools(known: Mapping[str, Path]) -> list[str]:
    """What the mathematics of a chapter imports of what plugs in programs and judges them."""
    return [
        f"{name} imports {imported}"
        for name, path in known.items()
        if {*name.split(".")} & PARTS and not {*name.split(".")} & TOOLS
        for imported in sorted(imports(path, known))
        if {*imported.split(".")} & TOOLS
    ]


def test_files_do_not_import_in_circles() -> None:
    """Imports for types and inside functions count; that of a package by what is in it does not."""
    assert circles(graph(MODULES)) == {*CIRCLES}


def test_processes_are_started_and_text_is_run_where_that_is_meant() -> None:
    known = {**modules("spec", "attention_spec"), "plugin": ROOT / "pytest_attention_spec.py"}
    found = {name: words for name, path in known.items() if (words := dangerous(path))}
    assert found == {name: {*words.split()} for name, (words, _) in DANGEROUS.items()}


def test_no_module_is_long() -> None:
    assert long(ROOT, *FOLDERS) == {*LONG}
    assert not [path.name for path in ROOT.glob("*.py") if lines(path) > LINES]


def test_no_file_has_the_marks_of_a_merge() -> None:
    """Nothing else reads a page that a merge left half done."""
    paths = (path for kind in ("md", "toml", "py") for path in ROOT.glob(f"[!.]*/**/*.{kind}"))
    texts = {path: path.read_text(encoding="utf-8") for path in (*paths, *ROOT.glob("*.md"))}
    assert [str(x) for x, text in texts.items() if MARKS.search(text)] == []


def test_no_module_has_many_imports() -> None:
    assert {name for name, found in graph(MODULES).items() if len(found) > IMPORTS} == {*MANY}


def test_the_engine_names_no_array_library() -> None:
    """It asks `spec.backends`, which has a module for each."""
    named = {
        f"{name}: {text}"
        for name, path in ENGINE.items()
        for text in {*strings(path), *imports(path, MODULES)}
        if NAMED.fullmatch(text)
    }
    assert not named


def test_the_mathematics_plugs_nothing_in() -> None:
    assert not tools(MODULES)


# That each rule can be broken.


def tree(root: Path, **files: str) -> dict[str, Path]:
    """A package `spec` of some files, by what its modules are called: `a__b` is `a/b.py`."""
    for name, text in files.items():
        path = root / "spec" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return modules("spec", root=root)


def test_a_circle_is_seen_however_it_is_closed(tmp_path: Path) -> None:
    known = tree(
        tmp_path,
        a="from spec import b\nfrom spec.e import f",
        b="if TYPE_CHECKING:\n    from spec.c import C",
        c="def f():\n    from . import a",
        d="import spec.a",
        e="import os",
    )
    assert circles(graph(known)) == {frozenset({"spec.a", "spec.b", "spec.c"})}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("eval('1')", "eval"),
        ("run = exec", "exec"),
        ("import builtins\nbuiltins.exec('')", "exec"),
        ("import pickle", "pickle"),
        ("def f():\n    from pickle import loads", "pickle"),
        ("import_module('pickle')", "pickle"),
        ("import os\nos.fork()", "fork"),
        ("from os import fork", "fork"),
        ("import multiprocessing as m", "fork"),
        ("from concurrent.futures import ProcessPoolExecutor", "fork"),
        ("import socket", "socket"),
        ("import asyncio.subprocess\nimport subprocess", "subprocess"),
        ("import os\nos.system('ls')", "subprocess"),
        ("import os\nos.execv('ls', [])", "subprocess"),
        ("from signal import SIGINT", "signal"),
    ],
)
def test_a_dangerous_word_is_seen(text: str, word: str, tmp_path: Path) -> None:
    assert dangerous(tree(tmp_path, a=text)["spec.a"]) == {word}


def test_what_is_only_called_so_is_not_dangerous(tmp_path: Path) -> None:
    text = '"""exec"""\nfrom os import path\nmodel.eval()\ncache.fork()\nx.signal = "pickle"'
    assert not dangerous(tree(tmp_path, a=text)["spec.a"])


def test_a_long_module_is_seen(tmp_path: Path) -> None:
    tree(tmp_path, a="x = 1\n" * 250, b="x = 1\n" * 251)
    assert long(tmp_path, "spec") == {"spec.b"}


def test_a_library_that_is_named_is_seen(tmp_path: Path) -> None:
    text = '"""torch"""\nname, dtype = "torch", f"jax.numpy:{x}"\nprose = "as torch has it"'
    path = tree(tmp_path, a=f"{text}\nimport jax")["spec.a"]
    assert [x for x in strings(path) if NAMED.fullmatch(x)] == ["torch", "jax.numpy:"]
    assert [x for x in imports(path, {}) if NAMED.fullmatch(x)] == ["jax"]


def test_mathematics_that_plugs_something_in_is_seen(tmp_path: Path) -> None:
    known = tree(
        tmp_path,
        a__clauses__b="from spec.a.plug import c",
        a__rounding="from spec import backends",
        a__plug__c="from spec.a import definition",
        a__plug__definition="from spec import backends",
        a__definition="import numpy",
        backends="",
    )
    assert tools(known) == [
        "spec.a.clauses.b imports spec.a.plug.c",
        "spec.a.rounding imports spec.backends",
    ]
