"""The end of a pytest run: its exit code, and the failures of all workers of pytest-xdist.

Workers cannot communicate, and one of them has to explain the failures of all. So each one writes
its failures into a shared folder at its end, and the one that finds the files of all is the last.
"""

import json
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def exit_code(config: Any) -> int:
    """The exit code of the rest of pytest's main function."""
    import pytest

    try:
        return int(config.hook.pytest_cmdline_main(config=config) or 0)
    except pytest.UsageError as error:
        for line in error.args:
            print(f"ERROR: {line}\n", file=sys.stderr)
        return int(pytest.ExitCode.USAGE_ERROR)
    except BaseException:
        traceback.print_exc()
        return int(pytest.ExitCode.INTERNAL_ERROR)


def failed_in_all(folder: str, worker: str, count: int, failed: Iterable[str]) -> set[str]:
    """The tests that failed in all workers, for the last one that ends; nothing for the others.

    folder: "" if there is none. On another machine it does not exist. Then each worker knows only
    what failed in itself. count: of the workers.
    """
    if not folder or not Path(folder).is_dir():
        return {*failed}
    note(folder, worker, failed)
    notes = [json.loads(file.read_text(encoding="utf-8")) for file in Path(folder).glob("*.json")]
    return {name for names in notes for name in names} if len(notes) >= count else set()


def note(folder: str, worker: str, failed: Iterable[str] = ()) -> None:
    """Note the tests that failed in a worker, all at once; none in one that crashed."""
    begun = Path(folder, worker)
    begun.write_text(json.dumps([*failed]), encoding="utf-8")
    begun.replace(f"{begun}.json")
