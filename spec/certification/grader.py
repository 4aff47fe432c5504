"""The ways to a grade: from Python, and `attention-spec grade TARGET`.

grade("mine.py:attend", require=("masks", "gradients")).passed
"""

import argparse
import ast
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spec.backends import Unsuitable
from spec.backends.library import first_line
from spec.certification import solutions
from spec.certification.doors import requested
from spec.certification.grading import FORMAT, Grade, graded
from spec.certification.options import asked
from spec.certification.terminal import show

SUBMITTED = "submission.py"  # the file of a source text
SEPARATE = ","


def grade(
    target: str,
    *,
    require: Sequence[str] | str = (),
    name: str | None = None,
    definition: str | None = None,
    seed: int | None = None,
    **options: Any,
) -> Grade:
    """Test code that nobody trusts in a process of its own, and return its grade.

    target: "path/file.py:name", "module:name", or the source text of a module, which has several
    lines; the text is written to a temporary folder. Without a name, a file has one function or
    class that is not private.
    require: words of `attention-spec list requirements` that the target must support and compute
    correctly: without them, a target that raises an exception for all options can pass.
    name: the function or class of a source text.
    definition: the file of the definition that a solution of FlashInfer-Bench is for; the target
    is then the file of the solution.
    seed: by default it is secret: drawn after the target was hashed. One that is given repeats a
    grade.
    options: those of `certify` except clauses, where, deviations, fail_fast, executor.
    Raises Unsuitable if the target, a requirement or an option is unusable.
    """
    words = require.split(SEPARATE) if isinstance(require, str) else require
    chosen = {**options, **({} if seed is None else {"seed": seed})}
    if refused := {"clauses", "where", "deviations", "fail_fast", "specification"} & {*options}:
        raise Unsuitable(f"grade has no option {min(refused)!r}: it tests all clauses")
    if definition is None and "\n" not in target:
        return graded(_requested(_named(target), chosen), _bare(words), sys.stderr)
    with tempfile.TemporaryDirectory(prefix="graded-") as folder:
        if definition is not None:
            return _of_solution(target, definition, Path(folder), chosen, _bare(words))
        file = Path(folder, SUBMITTED)
        file.write_text(target, encoding="utf-8")
        place = f"{file}:{name}" if name else _named(str(file))
        found = graded(_requested(place, chosen), _bare(words), sys.stderr)
        here = f"{folder}{os.sep}"
        target, repeat = (x.replace(here, "") for x in (found.target, found.repeat))
        return replace(found, target=target, repeat=repeat)


def _of_solution(
    solution: str, definition: str, folder: Path, given: Mapping[str, Any], words: Sequence[str]
) -> Grade:
    """The grade of a solution, under the conventions of its definition, unless others are given."""
    told, target = solutions.asked(definition), solutions.written(solution, definition, folder)
    conventions = {**told["conventions"], **(given.get("conventions") or {})}
    request = _requested(target, {**told, **given, "conventions": conventions})
    found, again = graded(request, words, sys.stderr), f"grade {shlex.quote(solution)}"
    again = f"{again} --definition {shlex.quote(definition)}"
    repeat = found.repeat.replace(f"certify {shlex.quote(target)}", again)
    repeat = repeat.replace(f" --where {shlex.quote(request.where)}", "")  # of the definition
    return replace(found, target=solution, repeat=repeat)


def command(options: argparse.Namespace) -> int:
    """Print a grade, or why there is none, as JSON; return the exit code."""
    try:
        words = [word for given in options.required for word in given.split(SEPARATE)]
        found = grade(
            options.target, require=words, definition=options.definition, **asked(options)
        )
    except Unsuitable as reason:
        show(f"error: {reason}", sys.stderr)
        unusable = {"verdict": "unusable", "passed": False, "exit_code": 2}
        told = {"format": FORMAT, **unusable, "target": options.target, "error": str(reason)}
        print(json.dumps(told, indent=1))
        return 2
    print(json.dumps(found.to_json(), indent=1))
    return found.exit_code


def _requested(target: str, given: Mapping[str, Any]) -> Any:
    """The request, with the defaults of a grade. A pyproject.toml of the target has no say."""
    secret = {} if "seed" in given else {"secret": True}
    return requested(target, {"isolation": "process", **secret, **given})


def _bare(words: Sequence[str]) -> list[str]:
    return [word.strip() for word in words]


def _named(target: str) -> str:
    """A target with its name: the only function or class of a file. Raises Unsuitable."""
    if ":" in target or not target.endswith(".py"):
        return target
    if not Path(target).is_file():
        raise Unsuitable(f"there is no file {target!r}")
    try:
        body = ast.parse(Path(target).read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError) as error:
        what = f"{type(error).__name__}: {first_line(error)}"
        raise Unsuitable(f"{target} cannot be read: {what}") from None
    kinds = ast.FunctionDef | ast.ClassDef
    names = [x.name for x in body if isinstance(x, kinds) and not x.name.startswith("_")]
    if len(names) != 1:
        has = f"has {', '.join(names)}" if names else "has no function or class"
        raise Unsuitable(f"{target} {has}: name one, as in {target}:NAME")
    return f"{target}:{names[0]}"
