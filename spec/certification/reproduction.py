"""A failure as a script of about a dozen lines that needs the implementation and its library.

Where the output or a gradient itself departs from the definition, the script has
the numbers that the definition says, and does not import this specification.
Otherwise the clause relates several calls, and the script says so and runs the clause.
It exits with 1 as long as the failure is there.
"""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from spec.backends.wrapping import Wrapped
from spec.certification.explanation import answers, departures, wanted
from spec.certification.settings import Request
from spec.clause import Clause
from spec.implementation import Implementation
from spec.notation import CONVENTIONS, Array, Problem


def script(
    clause: Clause, raw: Implementation, request: Request, problem: Problem, message: str
) -> str:
    """The text of the script; empty where the implementation cannot be imported by name."""
    if ":" not in raw.origin or "<" in raw.origin:
        return ""
    head = f'"""{clause.id} in {problem.dtype}: {clause.sentence}\n\n{message}\n"""\n\n'
    call = raw.forward.__self__ if hasattr(raw.forward, "__self__") else None
    plain = all({**raw.chosen, **request.conventions}[n] == c[0] for n, c in CONVENTIONS.items())
    off = departures(answers(raw, problem), problem) if plain else ()
    if isinstance(call, Wrapped) and off and problem.memory == "contiguous":
        return head + _native(call, raw, problem, off[0])
    return head + _by_clause(clause, raw, request, problem)


def _native(call: Wrapped, raw: Implementation, problem: Problem, name: str) -> str:
    """A script without this specification: call the function, compare with literal numbers."""
    library = call.library.name
    want, budget = wanted(problem)[name]
    lines = _imports(library, raw.origin)
    if library == "jax" and problem.dtype == "float64":
        lines.append('jax.config.update("jax_enable_x64", True)')
    lines.append("")
    lines += [f"{x} = {_literal(call, problem, x)}" for x in _needed(problem, name)]
    lines += _calls(call, raw, problem, name)
    lines += [
        f"want = {_numbers(want)}",
        f"within = {_numbers(budget)}",
        'print(f"got {got.tolist()}\\nwant {want.tolist()}\\nwithin {within.tolist()}")',
        "raise SystemExit(bool((~(abs(got - want) <= within)).any()))",
    ]
    return "\n".join(lines) + "\n"


def _imports(library: str, origin: str) -> list[str]:
    place, _, name = origin.rpartition(":")
    lines = []
    if place.endswith(".py"):
        path = PurePath(place)
        lines += ["import sys", f"sys.path.insert(0, {str(path.parent)!r})"]
        place = path.stem
    extra = {
        "numpy": [],
        "torch": ["import torch"],
        "jax": ["import jax", "import jax.numpy as jnp"],
    }
    first = name.split(".")[0]
    return [
        *lines,
        "import numpy as np",
        *extra[library],
        f"from {place} import {first}",
    ]


def _needed(problem: Problem, name: str) -> list[str]:
    needed = ["q", "k", "v"]
    if problem.mask is not None:
        needed.append("mask")
    return needed if name == "o" else [*needed, "dout"]


def _literal(call: Wrapped, problem: Problem, name: str) -> str:
    """One input as the function takes it."""
    x = getattr(problem, name)
    if call.layout == "blhd" and name != "mask":
        x = x.swapaxes(1, 2)
    plain, dtype = _numbers(x), problem.dtype
    if x.dtype == bool:
        return {
            "numpy": plain,
            "torch": f"torch.from_numpy({plain})",
            "jax": f"jnp.array({plain})",
        }[call.library.name]
    return {
        "numpy": f"{plain}.astype(np.{dtype})",
        "torch": f"torch.from_numpy({plain}).to(torch.{dtype})",
        "jax": f"jnp.array({plain}).astype(jnp.{dtype})",
    }[call.library.name]


def _numbers(x: Array) -> str:
    """An array of NumPy as a literal."""
    kind = "bool" if x.dtype == bool else "float"
    shape = f".reshape({x.shape})" if x.size == 0 else ""
    words = str(x.astype(kind).tolist()).replace("inf", "np.inf").replace("nan", "np.nan")
    return f"np.array({words}, dtype={kind}){shape}"


def _arguments(call: Wrapped, problem: Problem, arrays: list[str]) -> str:
    ordered, named = call.signature.arranged(arrays)
    options = call.signature.keywords(problem, "mask")
    words = {name: x if x == "mask" else repr(x) for name, x in options.items()}
    return ", ".join([*ordered, *(f"{n}={x}" for n, x in {**named, **words}.items())])


def _calls(call: Wrapped, raw: Implementation, problem: Problem, name: str) -> list[str]:
    """The lines that compute `got` as float64 numbers of NumPy."""
    back = ".swapaxes(1, 2)" if call.layout == "blhd" else ""
    name_there = raw.origin.rpartition(":")[2]
    forward = f"{name_there}({_arguments(call, problem, ['q', 'k', 'v'])})"
    to_numpy = {
        "numpy": "np.asarray({}, dtype=float)",
        "torch": "{}.detach().cpu().double().numpy()",
        "jax": "np.asarray({}, dtype=float)",
    }[call.library.name] + back
    if name == "o":
        return [f"got = {to_numpy.format(forward)}"]
    index = "qkv".index(name[1])
    given = raw.backward.__self__ if hasattr(raw.backward, "__self__") else None
    if isinstance(given, Wrapped) and given.function is not call.function:
        arguments = _arguments(given, problem, ["dout", "q", "k", "v"])
        return [f"got = {to_numpy.format(f'{name_there}.backward({arguments})[{index}]')}"]
    if call.library.name == "torch":
        return [
            f"{name[1]}.requires_grad_()",
            f"(gradient,) = torch.autograd.grad({forward}, [{name[1]}], dout)",
            f"got = {to_numpy.format('gradient')}",
        ]
    return [
        f"_, pull = jax.vjp(lambda q, k, v: {forward}, q, k, v)",
        f"got = {to_numpy.format(f'pull(dout)[{index}]')}",
    ]


def _by_clause(clause: Clause, raw: Implementation, request: Request, problem: Problem) -> str:
    """A script that runs the clause itself, as it relates several calls."""
    fields = [
        f"    {name}={_numbers(x) if isinstance(x, np.ndarray) else repr(x)},"
        for name, x in ((n, getattr(problem, n)) for n in problem.__dataclass_fields__)
    ]
    arguments = ", ".join([repr(clause.number), repr(raw.origin), "problem", *_asked(request)])
    lines = [
        "# The clause relates several calls, so this runs the clause itself.",
        "import numpy as np",
        "from spec.certification import rerun",
        "from spec.notation import Problem",
        "",
        "problem = Problem(",
        *fields,
        ")",
        f"raise SystemExit(rerun({arguments}))",
    ]
    return "\n".join(lines) + "\n"


def _asked(request: Request) -> list[str]:
    """The options of a request that change how the implementation is called."""
    defaults: dict[str, object] = {
        "backend": None,
        "layout": "bhld",
        "device": "cpu",
        "conventions": {},
    }
    asked = {name: getattr(request, name) for name in defaults}
    return [f"{n}={value!r}" for n, value in asked.items() if value != defaults[n]]
