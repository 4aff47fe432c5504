"""flash-attn's spelling, as the programs of steps have it that are told where tokens lie."""

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
    """The options of a call in torch's spelling."""
    left, right = (None if bound < 0 else bound for bound in window)
    found: dict[str, Any] = {"scale": scale, "is_causal": causal, "window_size": (left, right)}
    return found | {"softcap": softcap or None, "alibi_slopes": slopes, "sinks": sinks}


def attended(q: Array, k: Array, v: Array, p: Array, r: Array, options: dict[str, Any]) -> Array:
    """What the queries of a text are answered, at places p, by its keys at places r.   (N, H, E)"""
    arrays = [x.swapaxes(0, 1)[None] for x in (q, k, v)]
    given = Given(*arrays, **options, query_positions=p[None], key_positions=r[None])
    return making.attend(given)[0].swapaxes(0, 1)


def program(attend: Callable[..., Any], steps: Any) -> Any:
    """A function of steps as one that has these, and no parameter for them."""

    def called(*arrays: Any, **options: Any) -> Any:
        return attend(*arrays, **options, steps=steps)

    known = inspect.signature(attend)
    spelled = [p for name, p in known.parameters.items() if name != "steps"]
    called.__signature__ = known.replace(parameters=spelled)  # type: ignore[attr-defined]
    called.__module__ = attend.__module__
    return called
