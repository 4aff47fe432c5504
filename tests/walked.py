"""The Python files of this repository, and what each of them imports: read, and never run."""

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
Modules = Mapping[str, Path]


def name_of(path: Path, root: Path = ROOT) -> str:
    """The dotted name of the module in a file."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(*folders: str, root: Path = ROOT) -> dict[str, Path]:
    """The modules in some folders and below, by name."""
    paths = (path for folder in folders for path in sorted((root / folder).rglob("*.py")))
    return {name_of(path, root): path for path in paths}


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def lines(path: Path) -> int:
    """How many lines a file has."""
    return len(path.read_text(encoding="utf-8").splitlines())


def strings(path: Path) -> Iterator[str]:
    """Every string constant of a file but its docstrings, the parts of f-strings among them."""
    tree = parsed(path)
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in documents:
            yield text


def imports(path: Path, known: Modules, types: bool = True) -> frozenset[str]:
    """The modules that a file imports, also inside functions: ours by their full names.

    known: ours. types: whether those count that are imported for type checkers alone.
    """
    wholes = ((source, f"{source}.{name}") for source, name in imported(path, known, types))
    return frozenset(whole if whole in known else source for source, whole in wholes)


def imported(path: Path, known: Modules, types: bool = True) -> Iterator[tuple[str, str]]:
    """The modules that a file imports, each with the name that it takes from it; "" for none."""
    unread = set() if types else for_types(parsed(path))
    for node in statements(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node not in unread:
            source = _absolute(node, path, known)
            yield from ((source, alias.name) for alias in node.names)


def for_types(tree: ast.Module) -> set[ast.AST]:
    """What stands under `if TYPE_CHECKING`."""
    return {
        node
        for block in statements(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in statements(block)
    }


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All below that may have statements: expressions have none, and are most of a tree."""
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


def _absolute(node: ast.ImportFrom, path: Path, known: Modules) -> str:
    """The module that names are imported from, where it may be given relative to the file."""
    if not node.level:
        return str(node.module)
    name = next(name for name, place in known.items() if place == path)
    package = [*name.split("."), ""] if path.name == "__init__.py" else name.split(".")
    return ".".join([*package[: -node.level], *filter(None, [node.module])])


def graph(known: Modules) -> dict[str, frozenset[str]]:
    """For each module those of ours that it imports, types and functions counted."""
    return {name: imports(path, known) & known.keys() for name, path in known.items()}


def reached(edges: Mapping[str, Collection[str]], start: str) -> set[str]:
    """All that a path of one edge or more leads to."""
    found, left = set[str](), [*edges.get(start, ())]
    while left:
        if (name := left.pop()) not in found:
            found.add(name)
            left += edges.get(name, ())
    return found


def circles(edges: Mapping[str, Collection[str]]) -> set[frozenset[str]]:
    """Sets of modules, each of which leads to all others of its set and to itself."""
    far = {name: reached(edges, name) for name in edges}
    return {
        frozenset(x for x in far[name] if name in far[x]) for name in edges if name in far[name]
    }
