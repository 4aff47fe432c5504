"""The first lines of a zygote, which it reads from its standard input.

They load a folder as the package `attention_runner`, so that the folder that holds the
specification is on no path of the process, and start what is in it.
"""

import importlib
import importlib.util
import sys

NAME = "attention_runner"


def started(folder: str, control: int, libraries: list[str]) -> None:
    """Load the folder as a package, and be a zygote until the control socket is closed."""
    found = importlib.util.spec_from_file_location(
        NAME, f"{folder}/__init__.py", submodule_search_locations=[folder]
    )
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[NAME] = module
    found.loader.exec_module(module)
    importlib.import_module(f"{NAME}.zygote").main(control, libraries)
