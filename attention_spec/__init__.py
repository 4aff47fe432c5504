"""The specification under the name by which it is installed.

    from attention_spec import certify

Our modules import each other as `spec`. Installed, they lie in this folder, and nothing is called
`spec`; in the repository they lie next to it. Loaded from here they are `attention_spec.…`, and
what they import as `spec` is that. For all other modules `spec` is what it was: somebody else's
package, or none. Where it is ours, in the repository, both names are the same modules, never two
copies: an exception of the one would not be caught as that of the other.
"""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:  # `python -m attention_spec`
    # A file that lies where it is started is no module of Python, whatever its name is.
    sys.path.append(sys.path.pop(0))

import builtins
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spec import *  # noqa: F403

NAME, SHORT = __name__, "spec"
HERE = Path(__file__).resolve().parent
INSIDE = HERE / SHORT / "__init__.py"  # of what is installed
OURS = INSIDE if INSIDE.exists() else HERE.parent / SHORT / "__init__.py"


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """What `import` does in our modules: to them, `spec` is this package."""
    if not level and f"{name}.".startswith(f"{SHORT}."):
        name = NAME + name.removeprefix(SHORT)
    return builtins.__import__(name, globals, locals, fromlist, level)


class Own(SourceFileLoader):
    """Loads a module of ours under the name of this package."""

    def exec_module(self, module: ModuleType) -> None:
        """Run it; an `import` statement asks the builtins that its module has."""
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)


class Alias(Loader):
    """Gives a module that there is another name, and leaves it as it is."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        """The module; the importer is about to report that it belongs to another package."""
        module = import_module(self.name)
        self.said = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing but to have it say what it said."""
        module.__spec__ = self.said


class Finder(MetaPathFinder):
    """Finds our modules: as this package's own, and by the other name as the same.

    home: the name under which they are loaded.
    """

    def __init__(self, home: str) -> None:
        self.home = home

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a module of ours is found; None for all others."""
        package, dot, rest = name.partition(".")
        if package not in (NAME, SHORT):
            return None
        if package == self.home:
            return None if package == SHORT else self._own(name, path)
        if not self._is_ours(name, path, target):
            return None
        if find_spec(self.home + dot + rest) is not None:
            return spec_from_loader(name, Alias(self.home + dot + rest))
        folders = [str(Path(entry) / SHORT) for entry in sys.path]
        return PathFinder.find_spec(name, folders)  # theirs, where it makes no package of its own

    def _own(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        found = PathFinder.find_spec(name, path)
        if found is not None and found.origin is not None:
            found.loader = Own(name, found.origin)
        return found

    def _is_ours(self, name: str, *where: Any) -> bool:
        """Whether what goes by the other name is this specification, or a part of it."""
        above = name.rpartition(".")[0]
        if above:  # which nobody has imported where a module is only looked for, in folders
            there = sys.modules.get(above)
            return there is not None and there.__name__.partition(".")[0] == self.home
        others = [finder for finder in sys.meta_path if finder is not self]
        found = next(filter(None, (other.find_spec(name, *where) for other in others)), None)
        return found is not None and _origin(found) == OURS


def _origin(found: ModuleSpec | None) -> Path | None:
    return None if found is None or not found.has_location else Path(str(found.origin)).resolve()


def _loaded() -> ModuleType:
    """The specification itself, in the place of this module."""
    sys.meta_path[:] = [x for x in sys.meta_path if type(x).__module__ != NAME]  # of a last time
    there = sys.modules.get(SHORT)
    if there is not None and _origin(there.__spec__) == OURS:
        sys.meta_path.insert(0, Finder(SHORT))
        return there
    sys.meta_path.insert(0, Finder(NAME))
    found = spec_from_file_location(NAME, OURS, loader=Own(NAME, str(OURS)))
    assert found is not None
    sys.modules[NAME] = module = module_from_spec(found)
    Own(NAME, str(OURS)).exec_module(module)
    return module


sys.modules[NAME] = _loaded()
