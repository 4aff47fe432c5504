"""Plant each fault in a copy of the repository, and run the tests until one fails.

    python -m tests.planted --results planted.json
    python -m tests.planted --fault the-seed-is-ignored --results planted.json
    python -m tests.planted --area bounds -- python -m pytest -x -q tests/attention

The test command stands behind `--`; by default it is that of the whole suite. Test files that most
likely catch a fault, and those of --tests, are run first; if none of them fails, the whole command
is. A test that fails with the fault is run once more without it: if it fails there as well, it has
caught nothing. With --results a run that was interrupted goes on where it was.

Exit codes: 0 all faults are caught, 1 some are not, 2 a fault does not fit the tree any more, or
the arguments are no good.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.planted.copies import Astray, clean_copy, planted_copy
from tests.planted.faults import Fault, faults, stale
from tests.planted.results import CAUGHT, Another, Result, Results
from tests.planted.running import Run, run

WHOLE = (sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "--dist", "worksteal")
SURVIVED, LATE = "survived", "survived: timed out"
BROKEN = "unclear: the tests did not run"
ANYWAY = "unclear: the test fails without the fault as well"


class Planting:
    """Runs a test command on one fault after the other.

    clean: a copy without faults. tests: files that are run before the whole command. seconds: for
    one fault.
    """

    def __init__(
        self, command: Sequence[str], clean: Path, tests: Sequence[str], seconds: float
    ) -> None:
        self.command, self.clean, self.tests, self.seconds = [*command], clean, tests, seconds
        self.fails_anyway: dict[str, bool] = {}

    def result(self, fault: Fault) -> Result:
        """What becomes of a fault."""
        start = time.monotonic()
        with TemporaryDirectory(dir=self.clean.parent, ignore_cleanup_errors=True) as folder:
            found = self._run(planted_copy(self.clean, fault, Path(folder) / "copy"), fault)
        seconds = round(time.monotonic() - start, 1)
        result = self._told(found)
        said = found.tail if result == BROKEN else ""
        return Result(fault.name, fault.area, result, found.failed, seconds, said)

    def _run(self, copy: Path, fault: Fault) -> Run:
        """The run in which a test fails, or else that of the whole command."""
        start = time.monotonic()
        wanted = dict.fromkeys([*self.tests, *fault.first])
        first = [x for x in wanted if (copy / x.partition("::")[0]).exists()]
        if first:
            found = run([*self.command, *first], copy, self.seconds)
            if found.failed or found.code != 0:
                return found
        return run(self.command, copy, self.seconds - (time.monotonic() - start))

    def _told(self, found: Run) -> str:
        if found.failed:
            return ANYWAY if self._fails_anyway(found.failed) else CAUGHT
        if found.code is None:
            return LATE
        return BROKEN if found.code else SURVIVED

    def _fails_anyway(self, test: str) -> bool:
        """Whether a test fails where nothing was planted; each is tried once."""
        if test not in self.fails_anyway:
            found = run([*self.command, test], self.clean, self.seconds)
            self.fails_anyway[test] = found.code != 0
        return self.fails_anyway[test]


def main(words: Sequence[str] | None = None) -> int:
    """Plant the faults that are asked for, and print a table."""
    given = [*(sys.argv[1:] if words is None else words)]
    place = given.index("--") if "--" in given else len(given)
    options, command = _parser().parse_args(given[:place]), given[place + 1 :] or [*WHOLE]
    chosen = [x for x in faults() if _is_asked(x, options)]
    if lines := [*_unknown(options), *stale(chosen)]:
        print("\n".join(lines), file=sys.stderr)
        return 2
    try:
        results = Results(command, options.results)
        _plant(chosen, results, options)
    except (Another, Astray) as reason:
        print(reason, file=sys.stderr)
        return 2
    print(results.table([fault.name for fault in chosen]))
    return int(any(results.found[fault.name].result != CAUGHT for fault in chosen))


def _plant(chosen: Sequence[Fault], results: Results, options: argparse.Namespace) -> None:
    """Plant those of which nothing is known yet."""
    left = [fault for fault in chosen if fault.name not in results.found]
    if not left:
        return
    with TemporaryDirectory(prefix="planted-", ignore_cleanup_errors=True) as folder:
        clean = clean_copy(Path(folder) / "clean")
        planting = Planting(results.command, clean, options.tests, options.seconds)
        for fault in left:
            results.add(found := planting.result(fault))
            told = f"{found.name}: {found.result} {found.test} ({found.seconds:.0f} s)"
            print(told, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.planted", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--fault", action="append", default=[], metavar="NAME", help="plant this one")
    add("--area", action="append", default=[], metavar="NAME", help="plant those of this area")
    add("--tests", nargs="+", default=[], metavar="PATH", help="run these tests first")
    add("--results", type=Path, metavar="FILE", help="keep what was found as JSON, and go on later")
    add("--seconds", type=float, default=900.0, help="for one fault (default: 900)")
    return parser


def _is_asked(fault: Fault, options: argparse.Namespace) -> bool:
    every = not options.fault and not options.area
    return every or fault.name in options.fault or fault.area in options.area


def _unknown(options: argparse.Namespace) -> list[str]:
    """A line for each fault and area that there is not."""
    known = faults()
    names, areas = {x.name for x in known}, {x.area for x in known}
    lines = [f"no fault {name!r}" for name in options.fault if name not in names]
    return [*lines, *(f"no area {name!r}" for name in options.area if name not in areas)]


if __name__ == "__main__":
    sys.exit(main())
