"""Whether a target is judged in a process of its own, where nobody says so.

It is, but for what no runner can have: a target that is written with the specification (a record,
or one of our implementations), as its text says; one on a GPU; and any on other systems than Linux.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from spec.boundary.importing import body_of, path_of
from spec.boundary.languages import file_of
from spec.runner.find import OURS
from spec.runner.origin import INSTALLED

PROCESS, FORK, NONE = "process", "fork", "none"
DEFAULT = PROCESS  # where nothing else decides
MOST = 200  # modules beside a target that are read


@cache
def chosen(target: str, device: str, folder: str) -> str:
    """How a target is judged by default: one of `ISOLATIONS`."""
    if file_of(target):  # another language has a process of its own
        return PROCESS
    if sys.platform != "linux" or device != "cpu":
        return FORK
    return FORK if of_ours(target, Path(folder)) else DEFAULT


def of_ours(target: str, folder: Path) -> bool:
    """Whether a target imports the specification, itself or by modules that are not installed."""
    place = target.rpartition(":")[0]
    is_file = place.endswith(".py")
    beside = (folder / place).parent if is_file else folder
    folders = [beside, *(x for x in map(Path, sys.path) if not _installed(x))]
    ahead, known = [Path(place).stem if is_file else place], set[str]()
    while ahead and len(known) < MOST:
        name = ahead.pop()
        if name.partition(".")[0] in OURS:
            return True
        if name not in known:
            known.add(name)
            ahead += next(filter(None, (_imports(name, x) for x in folders)), [])
            ahead += filter(None, [name.rpartition(".")[0]])  # its package
    return False


def _installed(path: Path) -> bool:
    """Whether a folder of modules belongs to Python, or holds packages that are installed."""
    return bool(INSTALLED & {*path.parts}) or path.is_relative_to(sys.base_prefix)


def _imports(name: str, folder: Path) -> list[str]:
    """The modules that a module in a folder imports, wherever in its text; none if it is none."""
    parts, file = name.split("."), (f"{name}:", str(folder))
    is_package = path_of(*file).name == "__init__.py"
    return [x for one in body_of(*file) for x in _named(ast.walk(one), parts, is_package)]


def _named(nodes: Iterable[ast.AST], parts: Sequence[str], is_package: bool) -> Iterator[str]:
    """The modules that the text of a module imports. parts: of its name."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            kept = parts[: len(parts) + is_package - node.level] if node.level else []
            of = [*kept, *filter(None, [node.module])]
            yield ".".join(of)
            yield from (".".join([*of, alias.name]) for alias in node.names)
