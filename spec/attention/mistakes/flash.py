"""flash-attn's API dialect, for programs that read packed, padded, paged or cached tokens."""

import inspect
from collections.abc import Callable
from typing import Any

from spec.attention.mistakes import making
from spec.attention.mistakes.given import Given
from spec.notation import Array

NO_BOUND = (-1, -1)


def said(
    scale: float | None,
    causal: bool,
    window: tuple[int, int],
    softcap: float,
    slopes: Array | None,
    sinks: Array | None,
) -> dict[str, Any]:
    """The options of a call, in torch's API dialect."""
    left, right = (None if bound < 0 else bound for bound in window)
    found: dict[str, Any] = {"scale": scale, "is_causal": causal, "window_size": (left, right)}
    return found | {"softcap": softcap or None, "alibi_slopes": slopes, "sinks": sinks}


def attended(q: Array, k: Array, v: Array, p: Array, r: Array, options: dict[str, Any]) -> Array:
    """The output of queries at positions p for keys at positions r of a sequence.   (N, H, E)"""
    arrays = [x.swapaxes(0, 1)[None] for x in (q, k, v)]
    given = Given(*arrays, **options, query_positions=p[None], key_positions=r[None])
    return making.attend(given)[0].swapaxes(0, 1)


def program(attend: Callable[..., Any], steps: Any) -> Any:
    """`attend` with these steps, as a function without the parameter `steps`."""

    def called(*arrays: Any, **options: Any) -> Any:
        return attend(*arrays, **options, steps=steps)

    known = inspect.signature(attend)
    spelled = [p for name, p in known.parameters.items() if name != "steps"]
    called.__signature__ = known.replace(parameters=spelled)  # type: ignore[attr-defined]
    called.__module__ = attend.__module__
    return called
