"""Imports run one way: the order of levels as data, and every import read from the source.

A module may import what stands on a lower level, or on its own; rooms of one level do not
meet. What is imported inside a function counts as well.
"""

import ast
import re
from functools import cache
from pathlib import Path

from tests.walked import imports, modules, parsed

WORDS = (
    "stream meanings",
    "notation choices printable version promises",
    "deferred formats noticed subject sizes rows comparison simplify written picture",
    "domain features mistake entries",
    "clause exploring",
    "trial",
    "alike abilities",
)
NAMES = ("cache", "layer", "dropout", "feed_forward", "merging", "positions")
CHAPTERS = tuple(f"spec.{name}" for name in NAMES)
ENGINE = "spec.certification"
LEVELS: tuple[tuple[str, ...], ...] = (
    ("spec.runner",),  # which imports nothing of ours
    *(tuple(f"spec.{word}" for word in words.split()) for words in WORDS),
    ("spec.backends", "spec.proving"),
    ("spec.boundary",),
    ("spec.kind",),
    ("spec.attention",),
    ("spec.positions",),
    CHAPTERS[:-1],
    ("spec.laws",),
    ("spec",),  # the table of contents
    ("spec.kinds",),
    (f"{ENGINE}.starting", f"{ENGINE}.each"),
    (f"{ENGINE}.profiles",),
    (f"{ENGINE}.offered",),
    (f"{ENGINE}.settings",),
    (f"{ENGINE}.target",),
    (f"{ENGINE}.explaining",),
    (f"{ENGINE}.judging",),
    (f"{ENGINE}.diagnosing",),
    (f"{ENGINE}.isolation",),
    (f"{ENGINE}.ledger",),
    (f"{ENGINE}.pages",),
    (ENGINE,),  # the ways in
    ("spec.adapters",),  # which nothing imports
    ("spec.__main__",),
)
# They plug programs in, judge them, or run what is judged.
TOOLS = ("adapters", "backends", "plug", "certification", "runner")
ROOMS = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


def room_of(module: str) -> str:
    """The room that a module is in: the longest name that it begins with."""
    parts = module.split(".")
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next(name for name in names if name in ROOMS)


MODULES = modules("spec")


@cache
def met(path: Path) -> frozenset[str]:
    """Every module that a file imports, but for those that only types are read from."""
    return imports(path, MODULES, types=False)


def of_spec(path: Path) -> list[str]:
    return [name for name in sorted(met(path)) if name.split(".")[0] == "spec"]


def test_imports_come_from_lower_levels() -> None:
    wrong = [
        f"{module} imports {imported}"
        for module in MODULES
        for imported in of_spec(MODULES[module])
        for here, there in [(room_of(module), room_of(imported))]
        if there != here and ROOMS[there] >= ROOMS[here]
    ]
    assert not wrong


def test_a_runner_has_nothing_of_the_specification() -> None:
    """It is loaded as a package of its own: what it has of ours lies beside it."""
    wrong = [
        f"{module} imports {imported} by its full name"
        for module, path in MODULES.items()
        if room_of(module) == "spec.runner"
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom | ast.Import)
        for imported in [getattr(node, "module", None), *(x.name for x in node.names)]
        if (imported or "").split(".")[0] in ("spec", "attention_spec")
    ]
    assert not wrong


def test_the_engine_knows_no_kind() -> None:
    wrong = [
        f"{module} imports {imported}"
        for module in MODULES
        if module.startswith(ENGINE)
        for imported in of_spec(MODULES[module])
        if room_of(imported) in ("spec.attention", *CHAPTERS)
    ]
    assert not wrong


def test_the_mathematics_has_no_torch() -> None:
    """A reader needs NumPy and patience: no array library but NumPy is imported here."""
    others = {"torch", "jax", "oracles", "implementations", "tests"}
    wrong = [
        f"{module} imports {imported}"
        for module in MODULES
        if not {*module.split(".")} & {*TOOLS}
        for imported in sorted(met(MODULES[module]))
        if imported.split(".")[0] in others
    ]
    assert not wrong


def test_no_module_has_the_name_of_the_package_in_a_string() -> None:
    """Installed, such a string imports somebody else's package, or none: see `attention_spec`."""
    wrong = [
        f"{module}: {node.value}"
        for module, path in MODULES.items()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant) and re.match(r"spec[.:]", str(node.value))
    ]
    assert not wrong


def test_a_mistake_is_a_program_and_plugs_nothing_in() -> None:
    wrong = [
        f"{module} imports {imported}"
        for module in MODULES
        if "mistakes" in module.split(".")
        for imported in of_spec(MODULES[module])
        if {*imported.split(".")} & {*TOOLS}
    ]
    assert not wrong


def test_the_order_names_every_room() -> None:
    assert {room_of(module) for module in MODULES} == set(ROOMS)
