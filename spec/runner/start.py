"""Run as a script: load this folder as the package `attention_runner`, and start the zygote.

So the folder that holds the specification is on no path of this process.
"""

import importlib.util
import sys
from pathlib import Path

NAME = "attention_runner"


def package() -> None:
    """Load the folder of this file under a name of its own."""
    here = Path(__file__).resolve().parent
    found = importlib.util.spec_from_file_location(
        NAME, here / "__init__.py", submodule_search_locations=[str(here)]
    )
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[NAME] = module
    found.loader.exec_module(module)


if __name__ == "__main__":
    package()
    importlib.import_module(f"{NAME}.zygote").main(*map(int, sys.argv[1:2]), sys.argv[2:])
