"""Judge golden certificates, and compare them with those that are recorded (`tests.golden`)."""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess as Process
from pathlib import Path

import numpy as np

import tests.golden
from spec import rows
from tests.golden import SAME
from tests.golden.lines import judged, line
from tests.golden.subjects import ROOT, Golden, every

FILE = Path(__file__).with_name("certificates.txt")


@cache
def by_name() -> Mapping[str, Golden]:
    """All of them. Processes that are copied find one by its name: not every target is pickled."""
    return {golden.name: golden for golden in every()}


def recorded(text: str) -> dict[str, str]:
    """The lines by name."""
    return {kept.partition("  ")[0]: kept for kept in text.splitlines()}


def found(names: Sequence[str], jobs: int) -> Iterator[tuple[str, str]]:
    """The name and line of each as they are judged, each in a process of its own.

    Some targets keep a memory. A process that dies is its target's line.
    """
    by_name()
    rows.ready()
    left, judges = [*reversed(names)], dict[Connection, tuple[str, Process]]()
    while left or judges:
        while left and len(judges) < jobs:
            name = left.pop()
            ours, theirs = multiprocessing.Pipe(duplex=False)
            process = Process(target=_judge, args=(name, theirs))
            process.start()
            theirs.close()
            judges[ours] = name, process
        ended = wait([*judges])
        for ours in [x for x in judges if x in ended]:
            yield _answer(ours, *judges.pop(ours))


def _answer(ours: Connection, name: str, process: Process) -> tuple[str, str]:
    with ours, suppress(EOFError):
        return name, ours.recv()
    process.join()
    return name, f"{name}  its judge died, exit code {process.exitcode}"


def _judge(name: str, theirs: Connection) -> None:
    with np.errstate(all="ignore"):
        theirs.send(line(by_name()[name], judged(by_name()[name])))


def moved(ref: str) -> list[str]:
    """The names of the lines that are not those of a commit. Raises CalledProcessError."""
    path = FILE.relative_to(ROOT).as_posix()
    shown = subprocess.run(
        ["git", "show", f"{ref}:{path}"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    old, new = recorded(shown.stdout), recorded(FILE.read_text(encoding="utf-8"))
    return [name for name in {**old, **new} if old.get(name) != new.get(name)]


def chosen(beginnings: Sequence[str], few: bool) -> list[str]:
    """The names that are asked for."""
    return [
        name
        for name, golden in by_name().items()
        if (golden.few or not few) and name.startswith(tuple(beginnings) or "")
    ]


def part(word: str) -> slice:
    """The part of all names that a word such as 2/4 stands for. Raises ValueError."""
    number, of = map(int, word.split("/"))
    if not 0 < number <= of:
        raise ValueError(word)
    return slice(number - 1, None, of)


def compared(names: Sequence[str], jobs: int) -> dict[str, str]:
    """The lines that are not as recorded. Each is printed below that which is."""
    known, new = recorded(FILE.read_text(encoding="utf-8")), dict[str, str]()
    for name, told in found(names, jobs):
        if told != known.get(name):
            new[name] = told
            print(f"- {known.get(name, name)}\n+ {told}", flush=True)
    return new


def record(new: Mapping[str, str]) -> None:
    """Write lines in the place of those of their names; those of no target are left out."""
    lines = {**recorded(FILE.read_text(encoding="utf-8")), **new}
    kept = (lines[name] for name in by_name() if name in lines)
    FILE.write_text("".join(f"{told}\n" for told in kept), encoding="utf-8")


def main() -> int:
    """Exit with 1 where a line is not as recorded, and 0 after it is recorded."""
    parser = argparse.ArgumentParser("python -m tests.golden", description=tests.golden.__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", help="names, or how they begin; all, if there is none")
    parser.add_argument("--few", action="store_true", help="the fixed part alone")
    parser.add_argument("--record", action="store_true", help="write what was found")
    parser.add_argument("--show", action="store_true", help="print what the hashes are made of")
    parser.add_argument("--moved", metavar="REF", help="the names of lines that REF had otherwise")
    share = "such as 2/4: every fourth, from the second"
    parser.add_argument("--part", type=part, default=slice(None), metavar="I/N", help=share)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if asked.moved:
        print(*moved(asked.moved), sep="\n")
        return 0
    names = chosen(asked.names, asked.few)[asked.part]
    absent = [name for name in names if not by_name()[name].there]
    for name in absent:
        needed = f"{by_name()[name].needs} {by_name()[name].release}".rstrip()
        print(f"not run: {name} needs {needed}")
    names = [name for name in names if name not in absent]
    if asked.show:
        for name in names:
            print(json.dumps(judged(by_name()[name]), indent=1, sort_keys=True))
        return 0
    new = compared(names, asked.jobs)
    if asked.record:
        record(new)
    print(f"{len(names)} judged, {len(new)} not as recorded{' before' * asked.record}")
    return 0 if asked.record else int(bool(new))


def start_alike() -> None:
    """Start this program again where libraries may use other instructions than elsewhere."""
    if not SAME.items() <= os.environ.items():
        words = [sys.executable, "-m", tests.golden.__name__, *sys.argv[1:]]
        os.execve(sys.executable, words, {**os.environ, **SAME})


if __name__ == "__main__":
    start_alike()
    sys.exit(main())
