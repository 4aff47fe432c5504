"""The work of compilers of functions: the number of programs, and the fallbacks.

torch's compiler has counters, and JAX reports each program as it compiles it (`listen`).
"""

import os
import sys
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

TRACED: Mapping[str, tuple[type, ...]] = {"static": (), "traced": (float,)}  # by JAX, beside arrays
OF_JAX = "JAX_COMPILATION_CACHE_DIR"  # which JAX reads as it is imported
ALL_KEPT = tuple(  # there, of whatever size and however soon it was compiled
    (f"JAX_PERSISTENT_CACHE_MIN_{what}", "-1") for what in ("ENTRY_SIZE_BYTES", "COMPILE_TIME_SECS")
)
# Flags of XLA, by the version of jaxlib: it ends the process for a flag that it does not know. With
# them it compiles in a third of the time, or a sixth for bfloat16, and fuses and optimises less.
LIGHT: Mapping[str, str] = {
    "0.10": "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=0"
    " --xla_cpu_parallel_codegen_split_count=1"
}
DONE, KEPT = "/jax/core/compile/backend_compile_duration", "/jax/compilation_cache/cache_hits"

_heard = Counter[str]()


def listen(monitoring: Any) -> None:
    """Count from now on what JAX compiles, and what it takes from where it was kept."""
    monitoring.register_event_duration_secs_listener(_hear)
    monitoring.register_event_listener(_hear)


def light() -> str:
    """The flags with which the installed XLA optimises little; "" if none are known."""
    try:
        return LIGHT.get(version("jaxlib").rpartition(".")[0], "")
    except PackageNotFoundError:
        return ""


def lightly() -> None:
    """Have XLA optimise little in this process, which has not used JAX yet.

    Flags that a person has set come later, and so overrule these.
    """
    os.environ["XLA_FLAGS"] = f"{light()} {os.environ.get('XLA_FLAGS', '')}".strip()


def counts() -> dict[str, Any]:
    """The numbers of programs compiled so far in this process, and the parts that were not."""
    made = programs()
    told = {"programs": made, "of_jax": _heard[DONE], "any": made + _heard[KEPT] > 0}
    return {**told, "not_compiled": not_compiled()}


def programs() -> int:
    """How many programs were compiled so far in this process."""
    counting = sys.modules.get("torch._dynamo.utils")
    of_torch = counting.counters["stats"]["unique_graphs"] if counting else 0
    return int(of_torch) + _heard[DONE] - _heard[KEPT]


def not_compiled() -> tuple[str, ...]:
    """Why the compiler gave up on a function, in its words, so far in this process.

    It says so to its log alone, and goes on with the function as it is written: among others
    after eight shapes that it compiled one by one. A part may be a line amid others.
    """
    counting = sys.modules.get("torch._dynamo.utils")
    if counting is None:
        return ()
    reasons = [x for name in ("unimplemented", "graph_break") for x in counting.counters[name]]
    return tuple(words.splitlines()[0] for words in reasons)


def forget_programs() -> None:
    """JAX keeps a program for each shape that it has seen: gigabytes in minutes."""
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


def _hear(event: str, *_: Any, **__: Any) -> None:
    _heard[event] += event in (DONE, KEPT)
