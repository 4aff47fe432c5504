"""A program that calls a function with arrays which it reads, and answers with arrays.

    in    a line that says which library, and where the target is; then, for each call, a line and
          the bytes of the arrays, which it names by their places
    out   for each call a line, and the bytes of the arrays in it: of the result, then of the inputs
          that are others now

`places`, `words` and the result are written as in `objects`; a pull has the cotangents as arrays.
"""

import json
import math
import os
import sys
from functools import reduce
from importlib import import_module, util
from typing import Any

from .libraries import WAYS

LINE, DEEPEST, LONGEST = 200, 6, 500
FACTS = ("dtype", "shape", "device", "grad")


def read(value: Any, arrays: Any, form: Any) -> Any:
    """The object that a value of a line stands for."""
    if not isinstance(value, dict):
        return value
    ((kind, what),) = value.items()
    if kind == "r":
        return arrays[what]
    if kind == "f":
        return float(what)
    if kind == "dtype":
        return form(what)
    if kind == "d":
        return {key: read(x, arrays, form) for key, x in what}
    found = [read(x, arrays, form) for x in what]
    return tuple(found) if kind == "t" else found


def written(x: Any, facts: Any, found: list[Any], depth: int = 0) -> Any:
    """A result as a value of a line; its arrays are added to `found`, with their bytes."""
    if x is None or type(x) in (bool, int):
        return x
    if type(x) is float:
        return x if math.isfinite(x) else {"f": repr(x)}
    if type(x) is str:
        return x[:LINE]
    if type(x) in (tuple, list) and len(x) <= LONGEST and depth < DEEPEST:
        kind = "t" if type(x) is tuple else "l"
        return {kind: [written(y, facts, found, depth + 1) for y in x]}
    known = facts(x)
    if known is None:
        of = type(x)
        return {"o": {"id": -1, "type": f"{of.__module__}.{of.__qualname__}", "kind": "object"}}
    *told, numbers = known
    found.append((x, numbers))
    return {"a": {**dict(zip(FACTS, told, strict=True)), "size": len(numbers)}}


def target_of(told: Any) -> Any:
    """The function that is called, imported as a script imports it."""
    sys.path.insert(0, told["folder"])
    if told["file"]:
        known = util.spec_from_file_location(told["module"], told["file"])
        assert known is not None
        assert known.loader is not None
        module = util.module_from_spec(known)
        sys.modules.setdefault(told["module"], module)
        known.loader.exec_module(module)
    one: Any = module if told["file"] else import_module(told["module"])
    return reduce(getattr, told["name"].split("."), one)


def refused(error: BaseException) -> Any:
    """An exception, in the fields that an answer has."""
    kinds = (NotImplementedError, AttributeError)
    kind = next((x.__name__ for x in kinds if isinstance(error, x)), "")
    line = (str(error).splitlines() or [""])[0][:LINE]
    return {"no": {"type": type(error).__name__, "line": line, "kind": kind, "missing": None}}


def attribute(of: Any, name: str) -> Any:
    """An attribute of a function, or the function as torch compiles it."""
    if name.startswith(":"):
        return import_module("torch").compile(of, dynamic=name == ":dynamic")
    return getattr(of, name)


class Program:
    """The function that is called, the library of its arrays, and what came of the last call.

    broken: the exception of its import, which answers every call. tape: the last recorded call.
    """

    def __init__(self, told: Any) -> None:
        self.put, self.facts, self.share, self.form, *rest = WAYS[told["library"]](told["device"])
        self.running, self.recorded, self.pulled = rest
        self.loads, self.dumps = json.loads, json.dumps
        self.target: Any = None
        self.functions: dict[str, Any] = {}
        self.outs: list[Any] = []
        self.tape: Any = None
        self.broken: Any = None
        try:
            self.target = target_of(told)
        except BaseException as error:
            self.broken = refused(error)

    def answer(self, told: Any, buffers: list[bytearray]) -> tuple[Any, list[bytes]]:
        """The answer to a line, and the bytes that belong to it."""
        before, found = [bytes(x) for x in buffers], list[Any]()
        try:
            self.running(told["running"])
            said = self.broken or self._done(told, [*map(self.put, buffers, told["arrays"])], found)
        except BaseException as error:
            said, found = refused(error), []
        changed = [n for n, x in enumerate(buffers) if x != before[n]]
        return {**said, "changed": changed}, [x for _, x in found] + [buffers[n] for n in changed]

    def _done(self, told: Any, given: list[Any], found: list[Any]) -> Any:
        if told["pull"] is not None:
            made = self.pulled(self.tape, [self.outs[x] for x in told["pull"]], given)
            return {"ok": written([*made], self.facts, found), "shared": [], "again": False}
        call = self._call(told, given)
        for _ in range(told["times"]):
            call(())
        leaves = [given[x] for x in told["leaves"]]
        result, self.tape = self.recorded(call, leaves) if leaves else (call(()), None)
        said = {"ok": written(result, self.facts, found)}
        last, self.outs = self.outs, [x for x, _ in found]
        shared = [n for n, x in enumerate(given) if any(self.share(out, x) for out in self.outs)]
        again = any(self.share(x, y) for x in self.outs for y in last)
        return {**said, "shared": shared, "again": again}

    def _call(self, told: Any, given: list[Any]) -> Any:
        """The call of a line, as a function of the arrays that are leaves."""
        key = ".".join(told["path"])
        if key not in self.functions:
            self.functions[key] = reduce(attribute, told["path"], self.target)
        function = self.functions[key]

        def call(leaves: Any) -> Any:
            known = {**dict(enumerate(given)), **dict(zip(told["leaves"], leaves, strict=False))}
            words = {name: read(x, known, self.form) for name, x in told["words"].items()}
            return function(*(read(x, known, self.form) for x in told["places"]), **words)

        return call


def main() -> None:
    """Read calls and answer them until there are no more."""
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    told = json.loads(asked.readline())
    sys.path += [path for path in told["paths"] if path not in sys.path]
    program = Program(told)
    for line in asked:
        wanted = program.loads(line)
        said, parts = program.answer(wanted, [bytearray(asked.read(x)) for x in wanted["sizes"]])
        answers.write(program.dumps(said).encode() + b"\n")
        answers.writelines(parts)
        answers.flush()


main()
