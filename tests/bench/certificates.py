"""What certificates cost: of torch's function and layer, and in each library, compiled or not."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

from tests.bench.measured import Measured, Value, is_there, one, times

SDPA = "torch.nn.functional:scaled_dot_product_attention"
LAYER = "torch.nn:MultiheadAttention"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
JAX = ("jax", "spec.adapters.jax_attention:attend", *("--backend", "jax", "--layout", "blhd"))
# Which a few shapes show or do not; causes of it would be counted with what a certificate compiles.
FUSED = ("--deviation", "S15=XLA on a CPU fuses a product and a sum, in some shapes")
LIBRARIES = (  # what they need, a target, and options
    ("NumPy", ("numpy", "implementations.einsum:attend")),
    ("torch", ("torch", "implementations.einsum_torch:attend")),
    ("torch.compile", ("torch", "implementations.einsum_torch:attend", "--compiled", "static")),
    (
        "torch.compile, dynamic",
        ("torch", "implementations.einsum_torch:attend", "--compiled", "dynamic"),
    ),
    ("jax.jit", (*JAX, *FUSED, "--compiled", "static")),
    ("jax.jit, numbers traced", (*JAX, *FUSED, "--compiled", "traced")),
)


def judged(target: str, *words: str, **environment: str) -> dict[str, Any]:
    """The certificate of a target by the command line, as its JSON has it, certified or not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        line = [sys.executable, "-m", "spec", "certify", target, "--json", str(path), *words]
        seen = {**os.environ, **ONE_THREAD, **environment}
        subprocess.run(line, env=seen, stdout=subprocess.DEVNULL, check=False)
        found: dict[str, Any] = json.loads(path.read_text())
    return found


def seconds(certificate: dict[str, Any]) -> float:
    """From start to end, as it says itself."""
    return float(certificate["timings"]["total"])


def certificates() -> Iterator[Measured]:
    """How long a certificate takes, and how much of that is our own doing."""
    quick, standard = (judged(SDPA, "--profile", name) for name in ("quick", "standard"))
    what = "a quick certificate of torch's function, four dtypes, from the command line"
    yield one(what, seconds(quick), "s", 6)
    yield one("a standard certificate of the same", seconds(standard), "s", 28)
    shared = (judged(SDPA, "--profile", x, "--isolation", "fork") for x in ("quick", "standard"))
    apart = (seconds(x) / seconds(y) for x, y in zip((quick, standard), shared, strict=True))
    of_fork = "the two, relative to those that share a process with their judge"
    yield Measured(of_fork, tuple(Value(x, "times", 1) for x in apart))
    loop = "a standard certificate of torch's function, relative to a loop that only calls it"
    yield one(loop, times(standard), "times", 3)
    spent = standard["timings"]
    every = sum(spent.values()) - spent["total"]
    share = "share of all processes' time: drawing problems"
    yield one(share, spent["drawing"] / every, "%", 0.10)
    both = spent["drawing"] + spent["elsewhere"]
    yield one(f"{share}, and bookkeeping", both / every, "%", 0.15)
    layer = judged(LAYER, "--profile", "standard")
    yield one("a standard certificate of torch's layer, two dtypes", seconds(layer), "s", 12)


def libraries() -> Iterator[Measured]:
    """Quick certificates in float32 in each library: programs, problems, seconds, times a loop."""
    for name, (needed, target, *words) in LIBRARIES:
        if not is_there(needed, name):
            continue
        found = judged(target, "--profile", "quick", "--dtype", "float32", *words)
        many, long = (140.0, 60.0) if needed == "jax" else (inf, inf)
        problems = sum(verdict["examples"] for verdict in found["verdicts"])
        values = [Value(found["programs"], "programs", many), Value(problems, "problems")]
        values += [Value(seconds(found), "s", long), Value(times(found), "times")]
        yield Measured(f"{name}, quick, float32; time also relative to a loop of calls", (*values,))


def sections() -> Iterator[Measured]:
    """What the clauses of each section cost, of a standard certificate of torch's function."""
    spent: dict[str, float] = {}
    for verdict in judged(SDPA)["verdicts"]:
        section = verdict["clause"][0]
        spent[section] = spent.get(section, 0.0) + sum(verdict.get("seconds", {}).values())
    total = sum(spent.values())
    for section, share in sorted(spent.items(), key=lambda pair: -pair[1]):
        yield one(f"section {section} of a standard certificate", share / total, "%")
